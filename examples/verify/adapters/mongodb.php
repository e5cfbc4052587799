<?php // Lets examples/verify judge the ids of PHP's extension mongodb.
use MongoDB\BSON\ObjectId;

function write(int $n): void {
    for (; $n > 0; $n--) echo new ObjectId(), "\n";
}

function read(string $line): string {
    try {
        $id = new ObjectId($line);
        return "$id {$id->getTimestamp()}";
    } catch (Throwable) {
        return 'refused';
    }
}

$n = (int) getenv('OID_VERIFY_IDS');
if (getenv('OID_VERIFY') === 'decode') {
    while (($line = fgets(STDIN)) !== false) echo read(substr($line, 0, -1)), "\n";
    exit;
}
write($n);
if (getenv('OID_VERIFY') === 'resume') {
    fgets(STDIN);
    write($n);
}
if (getenv('OID_VERIFY') === 'fork') {
    for ($i = 0; $i < 2; $i++) {
        if (pcntl_fork() === 0) {
            echo "child\n";
            write($n);
            exit;
        }
        pcntl_wait($status);
    }
    echo "parent\n";
    write($n);
}
