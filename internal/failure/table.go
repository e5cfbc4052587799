package failure

import "syscall"

// The beginnings of error replies of Redis, without the general code ERR.
var redisRows = []Row{
	{[]any{"READONLY", "MASTERDOWN"}, WrongNode, "it is a replica"},
	{[]any{"LOADING"}, WrongNode, "it is starting"},              // its replica may have been promoted
	{[]any{"NOREPLICAS"}, WrongNode, "it has lost its replicas"}, // one of them may have been promoted
	{[]any{"MOVED"}, WrongNode, "another node of its cluster has the lock"},
	{[]any{"CLUSTERDOWN", "TRYAGAIN", "ASK"}, Passes, "its cluster is changing"},
	{[]any{"MISCONF"}, Passes, "it cannot write to its disk"},
	{[]any{"OOM"}, Passes, "its memory is full"},
	{[]any{"BUSY"}, Passes, "it is running a script"},
	{[]any{"max number of clients"}, Passes, "it has too many clients"},
	// Envoy and twemproxy
	{[]any{"upstream failure", "no upstream host", "Connection", "Host is down"}, Passes, "the proxy does not reach it"},
}

// The beginnings of the codes SQLSTATE of PostgreSQL.
var postgresRows = []Row{
	{[]any{"25006"}, WrongNode, "it is read-only"},
	{[]any{"57P01", "57P02", "57P03", "57P05", "08"}, Passes, "it is starting or ending, or its pooler does not reach it"},
	{[]any{"53"}, Passes, "it lacks connections, memory or disk space"},
	{[]any{"40", "55P03", "55006", "57014"}, Passes, "another transaction is in the way"},
	{[]any{"58", "XX000"}, Passes, "its system or its pooler has failed"},
}

// The codes and labels of errors of MongoDB. Its driver itself looks for the primary.
var mongoRows = []Row{
	{[]any{10107, 13435, 13436, 10058, 189, 11600, 11602, 91}, WrongNode, "it is not the primary"},
	{[]any{6, 7, 89, 9001, 64, 100, 134}, Passes, "its members do not reach each other"},
	{[]any{50, 262, 112, 24, 13388}, Passes, "another operation is in the way"},
	{[]any{14031, 39, 146}, Passes, "it lacks disk space or memory"},
	{[]any{"NetworkError"}, Passes, ""}, // first: these errors have another label too
	{[]any{"RetryableWriteError", "TransientTransactionError", "RetryableError"}, Passes, "it is busy or changing"},
}

// The primary result codes of SQLite.
var sqliteRows = []Row{
	{[]any{5, 6, 15, 17}, Passes, "another process is in the way"},    // BUSY, LOCKED, PROTOCOL, SCHEMA
	{[]any{7, 9, 10, 13, 14}, Passes, "the disk or the system fails"}, // NOMEM, INTERRUPT, IOERR, FULL, CANTOPEN
}

// The errors of files. A folder that is missing, read-only or forbidden is final.
var fileRows = []Row{
	{[]any{syscall.ENOSPC, syscall.EDQUOT}, Passes, "the disk is full"},
	{[]any{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOLCK}, Passes, "there are too many open files, or too little memory"},
	{[]any{syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT}, Passes, "the disk fails"},
	{[]any{syscall.EINTR, syscall.EAGAIN, syscall.EBUSY}, Passes, "another process is in the way"},
}
