// Command manifests reads a YAML document from its standard input and holds it to the
// published types of Kubernetes, or to the published schema of Compose: its argument is
// "kubernetes" or "compose". If the argument is "baseline" or "restricted", it also holds the pods
// of a Pod or DaemonSet to that level of the Pod Security Standards. It prints what is wrong and
// exits with 1.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/compose-spec/compose-go/v2/loader"
	compose "github.com/compose-spec/compose-go/v2/types"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	security "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := check(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
}

func check(what string) error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if what == "compose" {
		_, err = loader.LoadWithContext(context.Background(), compose.ConfigDetails{
			WorkingDir: ".", ConfigFiles: []compose.ConfigFile{{Filename: "compose.yaml", Content: text}},
		}, func(o *loader.Options) { o.SetProjectName("oid", true) })
		return err
	}
	var kind struct{ Kind string }
	if err := yaml.Unmarshal(text, &kind); err != nil {
		return err
	}
	kinds := map[string]any{"CronJob": &batch.CronJob{}, "DaemonSet": &apps.DaemonSet{}, "Deployment": &apps.Deployment{}, "Pod": &core.Pod{}}
	into, known := kinds[kind.Kind]
	if !known {
		return fmt.Errorf("kind %q is not one of those that are checked", kind.Kind)
	}
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return err
	}
	strict, err := json.UnmarshalStrict(data, into) // unlike encoding/json, it knows upper case from lower
	if err := errors.Join(append(strict, err)...); err != nil || what == "kubernetes" {
		return err
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return err
	}
	var result policy.AggregateCheckResult
	level := security.LevelVersion{Level: security.Level(what), Version: security.LatestVersion()}
	switch of := into.(type) {
	case *core.Pod:
		result = policy.AggregateCheckResults(evaluator.EvaluatePod(level, &of.ObjectMeta, &of.Spec))
	case *apps.DaemonSet:
		result = policy.AggregateCheckResults(evaluator.EvaluatePod(level, &of.Spec.Template.ObjectMeta, &of.Spec.Template.Spec))
	default:
		return fmt.Errorf("kind %q has no pods that are checked", kind.Kind)
	}
	if !result.Allowed {
		return errors.New(result.ForbiddenDetail())
	}
	return nil
}
