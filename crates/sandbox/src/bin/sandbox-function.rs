//! A function for tests: the first line of its input is what it attempts.

use std::hint::black_box;

use attestry_sandbox::serve_function;

fn main() {
    serve_function(|input| {
        let line = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
        let (attempt, rest) = input.split_at(line);
        match attempt {
            b"echo" => rest.iter().skip(1).copied().collect(),
            b"loop" => loop {
                black_box(attempt);
            },
            b"sleep" => loop {
                std::thread::park();
            },
            b"memory" => hoard(),
            b"exit" => std::process::exit(1),
            b"recursion" => vec![recurse(0)],
            b"output" => vec![b'x'; 2 << 20],
            b"read" => std::fs::read("/etc/hostname").unwrap_or_default(),
            b"listen" => std::net::TcpListener::bind("127.0.0.1:0").map(|_| Vec::new()).unwrap_or_default(),
            b"run" => {
                std::process::Command::new("/bin/true").status().map(|_| Vec::new()).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    })
}

fn hoard() -> ! {
    let mut blocks = Vec::new();
    loop {
        blocks.push(black_box(vec![1_u8; 1 << 20]));
    }
}

fn recurse(depth: u8) -> u8 {
    let frame = black_box([depth; 4096]);
    if black_box(false) { depth } else { recurse(frame[usize::from(depth)]).wrapping_add(frame[0]) }
}
