package gpid

import (
	"crypto/sha1"
	"encoding/hex"
)

// instances is the namespace that the semantic conventions of OpenTelemetry fix for values of
// the attribute service.instance.id that are made from another identity:
// 4d63009a-8d0f-11ee-aad7-4c796ed8e320.
const instances = "\x4d\x63\x00\x9a\x8d\x0f\x11\xee\xaa\xd7\x4c\x79\x6e\xd8\xe3\x20"

// InstanceID returns the value of OpenTelemetry's attribute service.instance.id for the process:
// the UUID of version 5 (RFC 9562) of the text of g, in the namespace that the semantic
// conventions fix for this purpose. The UUID is in lower case, such as
// 007765ba-458a-5bc3-bd96-ad92fa9841e5. For the same GPID it is always the same. For the zero
// GPID it is "".
//
// Set the attribute to this value in the resource of an OpenTelemetry SDK, so that the telemetry
// of the process and its record name each other.
func (g GPID) InstanceID() string {
	if g.IsZero() {
		return ""
	}
	sum := sha1.Sum([]byte(instances + g.String()))
	sum[6] = sum[6]&0x0F | 0x50 // version 5
	sum[8] = sum[8]&0x3F | 0x80 // variant of RFC 9562
	text := hex.EncodeToString(sum[:16])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
