package testenv

import (
	"fmt"
	"net/http"
	"strings"
)

// Border is an answer that something between a client and the server gives in place of the
// server.
type Border struct {
	Name   string
	Status int
	Type   string // the content type; empty for none
	Header string // another header, as NAME: VALUE, or empty
	Body   string
}

// ServeHTTP gives the answer.
func (b *Border) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header()["Content-Type"] = nil // or else the server sends one
	if b.Type != "" {
		w.Header().Set("Content-Type", b.Type)
	}
	if name, value, found := strings.Cut(b.Header, ": "); found {
		w.Header().Set(name, value)
	}
	w.WriteHeader(b.Status)
	_, _ = fmt.Fprint(w, b.Body)
}

// centered is an error page of nginx, whose form others have taken over.
func centered(code int, title, server string) string {
	page := fmt.Sprintf("<html>\r\n<head><title>%[1]d %[2]s</title></head>\r\n<body>\r\n<center><h1>%[1]d %[2]s</h1></center>\r\n", code, title)
	if server != "" {
		page += "<hr><center>" + server + "</center>\r\n"
	}
	return page + "</body>\r\n</html>\r\n"
}

// Borders are the answers that proxies, load balancers, gateways and portals are documented or
// seen to give by themselves: with statuses of success, redirection, refusal and failure.
func Borders() []Border {
	const (
		html, plain, json, problem = "text/html", "text/plain; charset=utf-8", "application/json", "application/problem+json"
		ours                       = "https://github.com/oidkit/oid/blob/main/docs/reference/api.md#"
		member                     = `{"member":"0123456789abcdef","gpid":"10.0.0.7:0:1795166651598985:4711","process_block":"01020304","process_value":"01020304","interval_seconds":10}`
	)
	all := []Border{
		{"nginx, a reload with a broken upstream", 502, html, "", centered(502, "Bad Gateway", "nginx")},
		{"nginx, proxy_read_timeout", 504, html, "", centered(504, "Gateway Time-out", "nginx")},
		{"nginx, limit_req", 503, html, "", centered(503, "Service Temporarily Unavailable", "nginx")},
		{"nginx, limit_req_status", 429, html, "", centered(429, "Too Many Requests", "nginx")},
		{"nginx, client_max_body_size", 413, html, "", centered(413, "Request Entity Too Large", "nginx")},
		{"nginx, HTTP to its port of HTTPS", 400, html, "", centered(400, "The plain HTTP request was sent to HTTPS port", "nginx")},
		{"nginx, deny", 403, html, "", centered(403, "Forbidden", "nginx")},
		{"nginx, auth_basic", 401, html, `WWW-Authenticate: Basic realm="staff"`, centered(401, "Authorization Required", "nginx")},
		{"nginx, limit_except", 405, html, "", centered(405, "Not Allowed", "nginx")},
		{"nginx, of HTTP to HTTPS", 301, html, "Location: /v1/elsewhere", centered(301, "Moved Permanently", "nginx")},
		{"nginx, welcome page", 200, html, "", "<!DOCTYPE html>\n<html>\n<head>\n<title>Welcome to nginx!</title>"},
		{"Apache", 404, "text/html; charset=iso-8859-1", "", "<!DOCTYPE HTML PUBLIC \"-//IETF//DTD HTML 2.0//EN\">\n<html><head>\n<title>404 Not Found</title>"},
		{"Apache, mod_proxy", 503, "text/html; charset=iso-8859-1", "", "<!DOCTYPE HTML PUBLIC \"-//IETF//DTD HTML 2.0//EN\">\n<html><head>\n<title>503 Service Unavailable</title>"},
		{"HAProxy, no server", 503, html, "Cache-Control: no-cache", "<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>\n"},
		{"HAProxy, timeout client", 408, html, "Cache-Control: no-cache", "<html><body><h1>408 Request Time-out</h1>\nYour browser didn't send a complete request in time.\n</body></html>\n"},
		{"HAProxy, 400", 400, html, "Cache-Control: no-cache", "<html><body><h1>400 Bad request</h1>\nYour browser sent an invalid request.\n</body></html>\n"},
		{"Caddy, no upstream", 502, "", "Server: Caddy", ""},
		{"Caddy, no route", 200, "", "Server: Caddy", ""},
		{"Traefik, no router", 404, plain, "X-Content-Type-Options: nosniff", "404 page not found\n"},
		{"Traefik, no server", 503, plain, "", "no available server\n"},
		{"Traefik", 502, plain, "", "Bad Gateway"},
		{"Traefik, bodies limited", 413, plain, "", "Request Entity Too Large"},
		{"Envoy, connection failure", 503, "text/plain", "", "upstream connect error or disconnect/reset before headers. reset reason: connection failure"},
		{"Envoy, no host", 503, "text/plain", "", "no healthy upstream"},
		{"Envoy, rate limit", 429, "text/plain", "x-envoy-ratelimited: true", "local_rate_limited"},
		{"Envoy, no route", 404, "", "Server: envoy", ""},
		{"Envoy, body", 413, "text/plain", "", "Payload Too Large"},
		{"Istio, a policy", 403, "text/plain", "Server: istio-envoy", "RBAC: access denied"},
		{"AWS ALB, no target", 503, html, "Server: awselb/2.0", centered(503, "Service Temporarily Unavailable", "")},
		{"AWS ALB, target", 502, html, "Server: awselb/2.0", centered(502, "Bad Gateway", "")},
		{"AWS ALB, client closed", 460, "", "Server: awselb/2.0", ""},
		{"AWS ALB, X-Forwarded-For", 463, html, "Server: awselb/2.0", centered(463, "", "")},
		{"AWS ALB, identity provider", 561, html, "Server: awselb/2.0", centered(561, "Authentication Error", "")},
		{"AWS ALB, fixed response", 200, html, "Server: awselb/2.0", "under maintenance"},
		{"AWS ALB, redirect", 302, html, "Location: https://idp.invalid/authorize", centered(302, "Found", "")},
		{"AWS API Gateway, no permission", 403, json, "x-amzn-ErrorType: ForbiddenException", `{"message":"Forbidden"}`},
		{"AWS API Gateway, no route", 404, json, "", `{"message":"Not Found"}`},
		{"AWS API Gateway, throttled", 429, json, "", `{"message":"Too Many Requests"}`},
		{"CloudFront", 403, html, "X-Cache: Error from cloudfront", "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\"><HTML><HEAD><TITLE>ERROR: The request could not be satisfied</TITLE>"},
		{"Cloudflare, challenge", 403, html, "cf-mitigated: challenge", "<!DOCTYPE html><html lang=\"en-US\"><head><title>Just a moment...</title>"},
		{"Cloudflare, challenge of old", 503, html, "Server: cloudflare", "<!DOCTYPE html><html lang=\"en-US\"><head><title>Just a moment...</title>"},
		{"Cloudflare, rate limit", 429, "text/plain; charset=UTF-8", "Retry-After: 2", "error code: 1015"},
		{"Google, load balancer", 502, "text/html; charset=UTF-8", "", "\n<html><head>\n<title>502 Server Error</title>"},
		{"Google, IAP", 401, html, "X-Goog-IAP-Generated-Response: true", "Invalid IAP credentials: empty token"},
		{"Azure, application gateway", 403, html, "", centered(403, "Forbidden", "Microsoft-Azure-Application-Gateway/v2")},
		{"Kubernetes, default backend", 404, plain, "", "default backend - 404"},
		{"Kubernetes, API server", 404, json, "", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"NotFound","code":404}`},
		{"Kong, no route", 404, "application/json; charset=utf-8", "Server: kong/3.4.0", `{"message":"no Route matched with those values"}`},
		{"Kong, key", 401, "application/json; charset=utf-8", "Server: kong/3.4.0", `{"message":"No API key found in request"}`},
		{"Varnish", 503, "text/html; charset=utf-8", "Retry-After: 5", "<!DOCTYPE html>\n<html>\n  <head>\n    <title>503 Backend fetch failed</title>"},
		{"Squid", 503, "text/html;charset=utf-8", "X-Squid-Error: ERR_CONNECT_FAIL 111", "<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 4.01//EN\">"},
		{"a proxy that wants a password", 407, html, `Proxy-Authenticate: Basic realm="out"`, "<html>Proxy Authentication Required"},
		{"F5, a rule", 200, "text/html; charset=utf-8", "", "<html><head><title>Request Rejected</title></head><body>The requested URL was rejected. Please consult with your administrator."},
		{"Imperva", 200, html, "", "<html style=\"height:100%\"><head><META NAME=\"ROBOTS\" CONTENT=\"NOINDEX, NOFOLLOW\">Incapsula incident ID"},
		{"a captive portal", 200, html, "", "<HTML><HEAD><TITLE>Welcome to our Wi-Fi</TITLE>"},
		{"a captive portal that says so", 511, html, "", "<html><head><title>Network Authentication Required</title>"},
		{"a login page", 303, html, "Location: /login?next=/v1", ""},
		{"another API, about:blank", 404, problem, "", `{"type":"about:blank","title":"Not Found","status":404,"detail":"No static resource v1/processes.","instance":"/v1/processes"}`},
		{"another API, invalid", 422, problem, "", `{"type":"https://example.com/problems/validation","title":"Unprocessable Entity","status":422}`},
		{"another API, conflict", 409, "application/problem+json; charset=utf-8", "", `{"type":"https://example.com/problems/conflict","status":409}`},
		{"another API, without a type", 400, problem, "", `{"title":"Bad Request","status":400}`},
		{"Spring Boot", 404, json, "", `{"timestamp":"2026-11-28T09:00:00.000+00:00","status":404,"error":"Not Found","path":"/v1/processes"}`},
		{"a problem of the API as JSON", 404, json, "", `{"type":"` + ours + `not-found","status":404}`},
		{"a problem of the API as a page", 409, html, "", `{"type":"` + ours + `ended","status":409}`},
		{"half a problem of the API", 404, problem, "", `{"type":"` + ours + `not-found","stat`},
		{"JSON of a health check", 200, json, "", `{"status":"UP"}`},
		{"an empty object", 200, json, "", "{}"},
		{"null", 200, json, "", "null"},
		{"an empty list", 200, json, "", "[]"},
		{"an empty answer", 200, json, "", ""},
		{"accepted for later", 202, "", "", ""},
		{"no content", 204, "", "", ""},
		{"half an answer", 200, json, "", member[:len(member)/2]},
		{"not modified", 304, "", "", ""},
		{"several choices", 300, html, "", "choose"},
	}
	for code := 520; code <= 526; code++ { // https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/
		all = append(all, Border{fmt.Sprintf("Cloudflare, %d", code), code, "text/plain; charset=UTF-8", "Server: cloudflare", fmt.Sprintf("error code: %d", code)})
	}
	return all
}
