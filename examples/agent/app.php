<?php // app.php
use MongoDB\BSON\ObjectId;

$agent = stream_socket_client("unix:///run/oid/agent.sock");
fwrite($agent, "oid1 " . new ObjectId() . " name=shop addr=10.0.0.7:8080\n");
while (true) {
    echo new ObjectId(), "\n";
    sleep(1);
}
