package main
import ("testing"
"github.com/oidkit/oid/objectid"
"github.com/rs/xid"
"github.com/google/uuid"
"github.com/oklog/ulid/v2"
"github.com/segmentio/ksuid"
"github.com/bwmarrin/snowflake"
"go.mongodb.org/mongo-driver/v2/bson")
var node,_ = snowflake.NewNode(1)
func par(b *testing.B, f func()) { b.RunParallel(func(p *testing.PB){ for p.Next(){ f() } }) }
func BenchmarkNew(b *testing.B){
 for _,c := range []struct{n string; f func()}{
 {"oid",func(){objectid.New()}},{"mongo",func(){bson.NewObjectID()}},{"xid",func(){xid.New()}},{"ulid",func(){ulid.Make()}},{"uuid7",func(){uuid.NewV7()}},{"ksuid",func(){ksuid.New()}},{"snow",func(){node.Generate()}}} {
 b.Run(c.n,func(b *testing.B){ for b.Loop(){ c.f() } })
 b.Run(c.n+"-par",func(b *testing.B){ par(b,c.f) })
 }}
func BenchmarkParse(b *testing.B){
 s1:=objectid.New().String(); s2:=xid.New().String(); s3:=ulid.Make().String(); s4:=uuid.NewString(); s5:=ksuid.New().String(); s6:=node.Generate().String()
 for _,c := range []struct{n string; f func()}{
 {"oid",func(){objectid.Parse(s1)}},{"mongo",func(){bson.ObjectIDFromHex(s1)}},{"xid",func(){xid.FromString(s2)}},{"ulid",func(){ulid.Parse(s3)}},{"uuid7",func(){uuid.Parse(s4)}},{"ksuid",func(){ksuid.Parse(s5)}},{"snow",func(){snowflake.ParseString(s6)}}} {
 b.Run(c.n,func(b *testing.B){ b.ReportAllocs(); for b.Loop(){ c.f() } })
 }}
func BenchmarkAppend(b *testing.B){
 s1:=objectid.New(); s2:=xid.New(); s3:=ulid.Make(); s5:=ksuid.New(); s6:=node.Generate(); m:=bson.NewObjectID(); u:=uuid.New()
 buf:=make([]byte,0,64); x:=make([]byte,26); x20:=make([]byte,20)
 for _,c := range []struct{n string; f func()}{
 {"oid",func(){s1.AppendText(buf)}},{"mongo",func(){m.MarshalText()}},{"xid",func(){s2.Encode(x20)}},{"ulid",func(){s3.MarshalTextTo(x)}},{"uuid7",func(){u.MarshalText()}},{"ksuid",func(){s5.Append(buf)}},{"snow",func(){_=s6.Bytes()}}} {
 b.Run(c.n,func(b *testing.B){ b.ReportAllocs();for b.Loop(){ c.f() } })
 }}
