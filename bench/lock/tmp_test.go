package lock
import ("testing";"fmt";"os";"github.com/oidkit/oid/internal/testenv")
func TestTmp(t *testing.T){
 server := testenv.Redis(t)
 i:=0
 if os.Getenv("WHO")=="r" {i=3}
 for range 6 { s:= subjects[i]
  r := contest{title:"x",clients:1,workers:200,oneName:true}.run(t,server,bare(s))
  fmt.Println(s.Name, int(r.perSecond), r.own, r.server, r.commands)
 }
  fmt.Println(server.CLI("INFO","commandstats"))
}
