// Package platform speaks of a process as the platform on which it runs does: by its
// deployment, its pod and the like. All of that is what the process says of itself, in
// attributes of OpenTelemetry; nothing proves it.
package platform

import "strings"

// shown are the labels by which people on call know a process, in the order in which they are
// shown. They are attributes of OpenTelemetry's semantic conventions; the second is the name of
// the first until 2024.
var shown = []string{
	"deployment.environment.name", "deployment.environment", "service.namespace",
	"k8s.deployment.name", "k8s.statefulset.name", "k8s.daemonset.name", "k8s.cronjob.name", "k8s.job.name",
	"k8s.pod.name", "k8s.container.name", "k8s.namespace.name", "k8s.node.name", "k8s.cluster.name",
	"cloud.region", "container.id",
}

// words makes the word of a label: pod of k8s.pod.name.
var words = strings.NewReplacer("deployment.environment", "environment", "k8s.", "", "cloud.", "", "statefulset", "stateful set", "daemonset", "daemon set", "cronjob", "cron job", ".", " ")

// Fact is something that a process says of itself, such as pod and shop-7d4b9c-x2x.
type Fact struct{ Word, Value string }

// Facts returns what a process with these labels says of itself, as far as people on call want
// to know it, in the order in which they do.
func Facts(labels map[string]string) (all []Fact) {
	for _, name := range shown {
		if value := labels[name]; value != "" {
			all = append(all, Fact{words.Replace(strings.TrimSuffix(name, ".name")), value})
		}
	}
	return all
}
