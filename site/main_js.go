package main

import "syscall/js"

// main gives the page's script the functions oidInspect, oidRange and oidOdds, whose arguments
// are strings, and then calls the script's oidReady.
func main() {
	give := func(name string, f func(args []string) any) {
		js.Global().Set(name, js.FuncOf(func(_ js.Value, args []js.Value) any {
			texts := make([]string, len(args))
			for i, a := range args {
				texts[i] = a.String()
			}
			return js.ValueOf(f(texts))
		}))
	}
	give("oidInspect", func(args []string) any { return inspectText(args[0]) })
	give("oidRange", func(args []string) any { return rangeOf(args[0], args[1], args[2]) })
	give("oidOdds", func(args []string) any { return oddsOf(args[0], args[1], args[2], args[3]) })
	js.Global().Call("oidReady")
	select {} // the functions live as long as the page
}
