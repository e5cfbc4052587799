// app.rs
use bson::oid::ObjectId;
use std::{io::Write, os::unix::net::UnixStream, thread, time::Duration};

fn main() -> std::io::Result<()> {
    let mut agent = UnixStream::connect("/run/oid/agent.sock")?;
    writeln!(agent, "oid1 {} name=shop addr=10.0.0.7:8080", ObjectId::new())?;
    loop {
        println!("{}", ObjectId::new());
        thread::sleep(Duration::from_secs(1));
    }
}
