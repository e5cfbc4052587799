// Lets examples/verify judge the ids of the crate bson: cargo run --release
use bson::oid::ObjectId;
use std::io::{self, BufRead, Write};

extern "C" {
    fn fork() -> i32;
    fn wait(status: *mut i32) -> i32;
}

fn write(n: u64) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(4096, io::stdout().lock());
    for _ in 0..n {
        writeln!(out, "{}", ObjectId::new())?;
    }
    out.flush()
}

fn read(line: &str) -> String {
    match ObjectId::parse_str(line) {
        Ok(id) => format!("{id} {}", id.timestamp().timestamp_millis().div_euclid(1000)),
        Err(_) => "refused".to_string(),
    }
}

fn main() -> io::Result<()> {
    let test = std::env::var("OID_VERIFY").unwrap();
    if test == "decode" {
        for line in io::stdin().lock().lines() {
            println!("{}", read(&line?));
        }
        return Ok(());
    }
    let n = std::env::var("OID_VERIFY_IDS").unwrap().parse().unwrap();
    write(n)?;
    if test == "resume" {
        io::stdin().read_line(&mut String::new())?;
        write(n)?;
    }
    if test == "fork" {
        for _ in 0..2 {
            // The process has one thread.
            if unsafe { fork() } == 0 {
                println!("child");
                return write(n);
            }
            unsafe { wait(std::ptr::null_mut()) };
        }
        println!("parent");
        write(n)?;
    }
    Ok(())
}
