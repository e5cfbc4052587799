# app.rb
require "bson"
require "socket"

agent = UNIXSocket.new("/run/oid/agent.sock")
agent.puts "oid1 #{BSON::ObjectId.new} name=shop addr=10.0.0.7:8080"
loop do
  puts BSON::ObjectId.new
  $stdout.flush
  sleep 1
end
