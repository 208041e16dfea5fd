//! A player that speaks the protocol of lines, with misbehaviour chosen by its arguments. It reads requests with a
//! few searches for texts, as a hasty author would.

use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

/// Late enough to be late wherever a tenth of that is allowed.
const LATE: Duration = Duration::from_secs(1);

pub(crate) fn run(words: &[String]) -> ExitCode {
    let does = |behaviour: &str| words.iter().any(|word| word == behaviour);
    if does("dies-at-start") {
        let _ = writeln!(io::stderr(), "ModuleNotFoundError: No module named 'numpy'");
        return ExitCode::from(1);
    }
    if does("prints-first") {
        say("loading the model ...\n[1, 2]\n");
    }
    if does("forks") {
        crate::start(&["linger"], words, false);
    }
    let mut lines = io::stdin().lock().lines().map_while(Result::ok);
    let (mut requests, mut batches, mut batch) = (0, 0, Vec::new());
    while let Some(line) = lines.next() {
        if line.starts_with("{\"spelrum\"") {
            if does("greets-badly") {
                say("{'name': 'Scripted'}\n");
            } else if does("greets-otherwise") {
                say("[\"Scripted\"]\n");
            } else if does("refuses-its-name") {
                say("{\"error\":\"no game\"}\n");
            } else if does("refuses") && line.contains("\"game\"") {
                say("{\"error\":\"only chess\"}\n");
            } else if does("does-not-flush") {
                // As Python does where standard output is a pipe.
            } else {
                let parallel = number_after(words, "parallel=").unwrap_or(1);
                say(&format!(
                    "{{\"name\":\"Scripted\",\"version\":\"1.0\",\"parallel\":{parallel}}}\r\n"
                ));
            }
            continue;
        }
        let Some(id) = line.strip_prefix("{\"id\":") else { continue };
        let id: u64 = id.split(',').next().and_then(|id| id.parse().ok()).unwrap_or(0);
        requests += 1;
        if let Some(size) = number_after(words, "batch=") {
            batch.push((id, line));
            if batch.len() as u64 == size {
                answer_batch(&std::mem::take(&mut batch), words, batches);
                batches += 1;
            }
            if does("dies-with-batch") && batches == 1 {
                return ExitCode::from(9);
            }
            continue;
        }
        if does("dies") {
            let _ = writeln!(io::stderr(), "Segmentation fault");
            return ExitCode::from(9);
        }
        if does("hangs") {
            crate::linger();
        }
        if does("late") {
            crate::wait(LATE);
        }
        if does("raises") {
            say(&format!(
                "{{\"id\":{id},\"error\":\"Traceback (most recent call last):\\n  File \\\"mine.py\\\"\\n\
                 ZeroDivisionError\"}}\n"
            ));
            continue;
        }
        if does("resigns") {
            say(&format!("{{\"id\":{id},\"resign\":true}}\n"));
            continue;
        }
        if does("chats") {
            say(&format!(
                "thinking\n7\n\u{1b}[31m{{\n{{\"loss\":0.5}}\n{{\"id\":{},\"move\":\"b\"}}\n",
                id + 1
            ));
        }
        if does("too-much") {
            say(&format!("{{\"id\":{id},\"move\":\"{}\"}}\n", "x".repeat(1 << 20)));
        }
        if does("floods") {
            let _ = (0..).try_for_each(|_| io::stdout().lock().write_all(b"{\"id\":0}\n"));
        }
        if does("asks") {
            say(&format!("{{\"id\":{id},\"after\":[\"a\"],\"ask\":5}}\n"));
            let answer = lines.next().unwrap_or_default();
            let is_told = answer.contains("\"ask\":5") && answer.contains("\"position\":\"+a\"");
            say(&format!("{{\"id\":{id},\"after\":[\"z\"]}}\n"));
            let error = lines.next().unwrap_or_default();
            let mv = if is_told && error.contains("\"error\":\"no z\"") { "b" } else { "x" };
            say(&format!("{{\"id\":{id},\"move\":\"{mv}\"}}\n"));
            continue;
        }
        if does("asks-for-ever") {
            let _ = (0..).try_for_each(|_| {
                say(&format!("{{\"id\":{id},\"after\":[\"a\"]}}\n"));
                lines.next().map(|_| ())
            });
        }
        if does("dict") && requests == 1 {
            say(&format!("{{'id': {id}, 'move': 'a'}}\n"));
            continue;
        }
        let mv = match () {
            () if does("nonsense") => "17".to_owned(),
            () if does("illegal") => "\"z\"".to_owned(),
            () if does("illegal-once") && requests == 1 => "\"z\"".to_owned(),
            () if does("corrects") && !line.contains("\"refused\"") => "null".to_owned(),
            () => "\"a\"".to_owned(),
        };
        let more = if does("reports") {
            ",\"score\":-35,\"depth\":3,\"nodes\":100,\"pv\":[\"a\",\"b\"],\"seconds\":0.5,\"note\":\"x\""
        } else {
            ""
        };
        say(&format!("{{\"id\":{id},\"move\":{mv}{more}}}\n"));
        if does("twice") {
            say(&format!("{{\"id\":{id},\"move\":\"b\"}}\n"));
        }
        if does("dies-after") {
            return ExitCode::from(5);
        }
    }
    ExitCode::SUCCESS
}

fn number_after(words: &[String], key: &str) -> Option<u64> {
    words.iter().find_map(|word| word.strip_prefix(key)).and_then(|number| number.parse().ok())
}

/// Answers the requests of a batch, the last one first. A position may say what becomes of its request.
fn answer_batch(batch: &[(u64, String)], words: &[String], batches: u64) {
    let does = |behaviour: &str| words.iter().any(|word| word == behaviour);
    for (id, line) in batch.iter().rev() {
        let says = |word: &str| line.contains(&format!("\"position\":\"{word}\""));
        let first = batches == 0;
        match () {
            () if says("forget") => {}
            () if says("nan") && first => say(&format!("{{\"id\":{id},\"move\":NaN}}\n")),
            () if says("text") => say(&format!("{{\"id\":\"{id}\",\"move\":\"a\"}}\n")),
            () if says("raise") => say(&format!("{{\"id\":{id},\"error\":\"no\"}}\n")),
            () if does("dies-in-batch") && *id == batch[0].0 => std::process::exit(9),
            () => say(&format!(
                "thinking\n{{\"id\":{id},\"move\":\"{}\"}}\n",
                if says("b") { "b" } else { "a" }
            )),
        }
    }
}

fn say(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
