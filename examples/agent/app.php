<?php // app.php
use MongoDB\BSON\ObjectId;

/** Tells the agent of this host about this process. Call it in each request. Never throws or waits. */
function tell_agent(string $fields, string $path = "/run/oid/agent.sock"): void
{
    try {
        // The process keeps the connection from one request to the next. The pid, which
        // unix:// ignores as a port, gives each fork a connection of its own.
        $agent = @pfsockopen("unix://$path", -getmypid(), $code, $text, 0.1);
        if (!$agent) {
            return; // the next request tries again
        }
        stream_set_blocking($agent, false);
        if (ftell($agent) === 0) { // a new connection
            fwrite($agent, "oid1 " . new ObjectId() . " $fields\n");
        }
        $answer = (string) @stream_socket_recvfrom($agent, 4096, STREAM_PEEK);
        if (str_starts_with($answer, "ok")) {
            stream_socket_recvfrom($agent, 4096);
        } elseif (str_starts_with($answer, "error")) {
            error_log("$path: " . trim($answer));
            stream_socket_recvfrom($agent, 1); // the rest stays, so that PHP does not connect again
        }
    } catch (Throwable $e) {
        error_log("$path: " . $e->getMessage());
    }
}

while (true) {
    tell_agent("name=shop addr=10.0.0.7:8080");
    echo new ObjectId(), "\n";
    sleep(1);
}
