# app.rb
require "bson"
require "socket"

# Tells the agent of this host about this process and its forks. Never raises or waits.
module OidAgent
  class << self
    def start(fields, path = "/run/oid/agent.sock")
      @fields, @path = fields, path
      begin
        connect
      rescue StandardError
        @agent = nil # run tries again, and logs why
      end
      Thread.new { run }.thread_variable_set(:fork_safe, true) # so that Puma does not warn
    rescue ThreadError => e
      say e.message
    end

    def forked
      @agent&.close # the connection of the parent
      start(@fields, @path) if @fields
    end

    private

    def say(text)
      warn "#{@path}: #{text}"
    rescue StandardError # standard error is closed
    end

    def connect
      agent = Socket.new(:UNIX, :STREAM)
      agent.connect_nonblock(Socket.sockaddr_un(@path)) # neither this nor the next line waits
      agent.write_nonblock("oid1 #{BSON::ObjectId.new} #{@fields}\n")
      @agent = agent
    rescue StandardError
      agent&.close
      raise
    end

    def talk
      agent = @agent || connect
      answer = agent.readpartial(4096).strip
      loop { agent.readpartial(4096) } if answer.start_with?("ok") # until the agent ends
      answer
    rescue StandardError => e
      answer || e.message
    ensure
      agent&.close
      @agent = nil
    end

    def run
      pause, said = 1, ""
      loop do
        answer = talk
        ok = answer.start_with?("ok")
        say answer unless ok || answer == said
        said = answer
        pause = if ok then 1 elsif answer.start_with?("error") then 3600 else [2 * pause, 60].min end
        sleep pause * rand(0.5..1.5)
      end
    end
  end

  # Ruby 3.1 and later call _fork for each fork; earlier ones need OidAgent.forked in the child.
  module Fork
    def _fork
      super.tap { |pid| OidAgent.forked if pid == 0 }
    end
  end
  Process.singleton_class.prepend(Fork)
end

OidAgent.start "name=shop addr=10.0.0.7:8080"
loop do
  puts BSON::ObjectId.new
  $stdout.flush
  sleep 1
end
