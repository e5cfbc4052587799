// Package platform speaks of a process as the platform on which it runs does: by its
// deployment, its pod and the like. All of that is what the process says of itself, in
// attributes of OpenTelemetry; nothing proves it.
package platform

// shown are the labels by which people on call know a process, in the order in which they are
// shown, each with its word. The names are those of OpenTelemetry's semantic conventions.
var shown = [][2]string{
	{"deployment.environment.name", "environment"},
	{"deployment.environment", "environment"}, // the second until 2024
	{"service.namespace", "service namespace"},
	{"k8s.deployment.name", "deployment"},
	{"k8s.statefulset.name", "stateful set"},
	{"k8s.daemonset.name", "daemon set"},
	{"k8s.cronjob.name", "cron job"},
	{"k8s.job.name", "job"},
	{"k8s.pod.name", "pod"},
	{"k8s.container.name", "container"},
	{"k8s.namespace.name", "namespace"},
	{"k8s.node.name", "node"},
	{"k8s.cluster.name", "cluster"},
	{"cloud.region", "region"},
	{"container.id", "container id"},
	{"vcs.ref.head.revision", "revision"},
}

// Fact is something that a process says of itself, such as pod and shop-7d4b9c-x2x.
type Fact struct{ Word, Value string }

// Facts returns what a process with these labels says of itself, as far as people on call want
// to know it, in the order in which they do.
func Facts(labels map[string]string) (all []Fact) {
	for _, s := range shown {
		if value := labels[s[0]]; value != "" {
			all = append(all, Fact{s[1], value})
		}
	}
	return all
}
