# Lets examples/verify judge the ids of the gem bson.
require "bson"

def write(n)
  n.times { puts BSON::ObjectId.new }
  $stdout.flush
end

def read(line)
  id = BSON::ObjectId.from_string(line)
  "#{id} #{id.generation_time.to_i}"
rescue StandardError
  "refused"
end

n = ENV["OID_VERIFY_IDS"].to_i
if ENV["OID_VERIFY"] == "decode"
  $stdin.each_line(chomp: true) { |line| puts read(line) }
  exit
end
write(n)
if ENV["OID_VERIFY"] == "resume"
  STDIN.gets
  write(n)
end
if ENV["OID_VERIFY"] == "fork"
  2.times do
    Process.wait(fork { puts "child"; write(n) })
  end
  puts "parent"
  write(n)
end
