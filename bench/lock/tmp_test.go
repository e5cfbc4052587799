package lock
import ("testing";"fmt";"strings";"github.com/oidkit/oid/internal/testenv")
func TestTmp(t *testing.T){
 server := testenv.Redis(t)
 for range 3 { for i,s := range subjects { if i==2 {continue}
  r := contest{title:"x",clients:1,workers:1,oneName:true,locks:20000}.run(t,server,bare(s))
  fmt.Println(s.Name, int(r.perSecond), r.own, r.server, r.commands)
  for l := range strings.Lines(server.CLI("INFO","commandstats")) { if strings.Contains(l,"eval") {fmt.Print("  ",l)} }
 }}
}
