//! Timeouts and cancellation.

use std::net::Ipv4Addr;
use std::time::Duration;

use attestry_ai::fake::Reply;
use attestry_ai::{Failure, Settings, Wait};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::{KINDS, ask, meet, meet_with, question, read, refused};

const SHORT: Duration = Duration::from_millis(150);

fn late(wait: Wait) -> Failure {
    Failure::TimedOut { wait, after: SHORT }
}

#[tokio::test]
async fn nobody_accepts_the_connection() {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).expect("a free port");
    let listener = socket.listen(1).expect("a listener");
    let address = listener.local_addr().expect("an address");
    // Fills the accept queue; later connection attempts get no response.
    let mut queue = Vec::new();
    while let Ok(stream) = timeout(SHORT, TcpStream::connect(address)).await {
        queue.push(stream.expect("a connection"));
    }
    for kind in KINDS {
        let (_fake, provider) = meet_with(kind, [Reply::silence()], |settings| {
            settings.base_url = format!("http://{address}").parse().expect("a URL");
            settings.connect_timeout = SHORT;
        })
        .await;
        assert_eq!(refused(&provider).await, late(Wait::Connect));
    }
}

#[tokio::test]
async fn silence_before_the_first_byte() {
    for kind in KINDS {
        for reply in [Reply::silence(), Reply::stream().hangs(), Reply::status(200, "").hangs()] {
            let (fake, provider) =
                meet_with(kind, [reply], |settings: &mut Settings| settings.first_byte_timeout = SHORT).await;
            assert_eq!(refused(&provider).await, late(Wait::FirstByte));
            fake.hung_up(1).await;
            assert_eq!(fake.requests().len(), 1, "whoever asks has waited long enough");
        }
    }
}

#[tokio::test]
async fn silence_in_the_middle() {
    for kind in KINDS {
        let reply = Reply::stream().begins().says("a").raw("data: {").hangs();
        let (fake, provider) = meet_with(kind, [reply], |settings| settings.idle_timeout = SHORT).await;
        assert_eq!(ask(&provider).await, (vec!["a".to_owned()], Some(late(Wait::Idle))));
        fake.hung_up(1).await;
        assert_eq!(fake.requests().len(), 1);
    }
}

#[tokio::test]
async fn an_answer_without_end() {
    for kind in KINDS {
        let beat = |reply: Reply, _| reply.raw(": still here\n\n").pauses(Duration::from_millis(20));
        let reply = (0..100).fold(Reply::stream().begins(), beat);
        let (fake, provider) =
            meet_with(kind, [reply.clone()], |settings| settings.total_timeout = SHORT).await;
        assert_eq!(ask(&provider).await, (Vec::new(), Some(late(Wait::Total))));
        fake.hung_up(1).await;

        let (_fake, provider) =
            meet_with(kind, [Reply::silence()], |settings| settings.total_timeout = SHORT).await;
        assert_eq!(refused(&provider).await, late(Wait::Total));
    }
}

#[tokio::test]
async fn a_flood_of_comments_is_not_read_to_its_end() {
    for kind in KINDS {
        let comment = format!(": {}\n\n", "x".repeat(1_000_000));
        let reply = (0..100).fold(Reply::stream().begins(), |reply: Reply, _| reply.raw(comment.clone()));
        let (fake, provider) = meet(kind, [reply]).await;
        assert_eq!(ask(&provider).await, (Vec::new(), Some(Failure::Malformed("it is too large"))));
        fake.hung_up(1).await;
    }
}

#[tokio::test]
async fn attempts_share_the_time_before_the_first_byte() {
    for kind in KINDS {
        let (fake, provider) = meet_with(kind, [Reply::status(503, ""), Reply::silence()], |settings| {
            settings.first_byte_timeout = Duration::from_secs(1);
            settings.retry_pause = Duration::from_millis(600);
        })
        .await;
        let start = tokio::time::Instant::now();
        assert!(matches!(refused(&provider).await, Failure::TimedOut { wait: Wait::FirstByte, .. }));
        assert!(start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
        assert_eq!(fake.requests().len(), 2);
    }
}

#[tokio::test]
async fn signs_of_life_are_enough() {
    for kind in KINDS {
        let beat = |reply: Reply, _| reply.raw(": still here\n\n").pauses(SHORT / 3);
        let reply = (0..9).fold(Reply::stream(), beat).begins().says("a").ends();
        let (_fake, provider) = meet_with(kind, [reply], |settings| {
            settings.first_byte_timeout = 2 * SHORT;
            settings.idle_timeout = 2 * SHORT;
        })
        .await;
        assert_eq!(ask(&provider).await, (vec!["a".to_owned()], None));
    }
}

#[tokio::test]
async fn waiting_in_turns_loses_nothing_and_wins_no_time() {
    for kind in KINDS {
        let reply = Reply::stream().begins().says("a").raw("data").waits().raw(": \n\n").says("b").hangs();
        let (fake, provider) = meet_with(kind, [reply], |settings| settings.idle_timeout = 4 * SHORT).await;
        let mut answer = provider.ask(&question()).await.expect("an answer");
        assert_eq!(answer.next().await, Some(Ok("a".to_owned())));
        timeout(Duration::from_millis(10), answer.next()).await.expect_err("nothing is here yet");
        fake.cue();
        assert_eq!(answer.next().await, Some(Ok("b".to_owned())));

        let mut turns = 0;
        let failure = loop {
            turns += 1;
            assert!(turns < 100, "each turn begins the wait anew");
            if let Ok(next) = timeout(SHORT / 3, answer.next()).await {
                break next;
            }
        };
        assert_eq!(failure, Some(Err(Failure::TimedOut { wait: Wait::Idle, after: 4 * SHORT })));
        assert!(turns > 1);
    }
}

#[tokio::test]
async fn a_slow_reader_is_not_a_slow_provider() {
    for kind in KINDS {
        let reply = Reply::stream().begins().says("a").waits().says("b").ends();
        let (fake, provider) = meet_with(kind, [reply], |settings| settings.idle_timeout = SHORT).await;
        let mut answer = provider.ask(&question()).await.expect("an answer");
        assert_eq!(answer.next().await, Some(Ok("a".to_owned())));
        tokio::time::sleep(2 * SHORT).await;
        fake.cue();
        assert_eq!(read(&mut answer).await, (vec!["b".to_owned()], None));
    }
}

#[tokio::test]
async fn whoever_goes_away_stops_the_provider() {
    for kind in KINDS {
        // In the middle of an answer, while the provider sends nothing.
        let (fake, provider) = meet(kind, [Reply::stream().begins().says("a").hangs()]).await;
        let mut answer = provider.ask(&question()).await.expect("an answer");
        assert_eq!(answer.next().await, Some(Ok("a".to_owned())));
        drop(answer);
        fake.hung_up(1).await;

        // Before the answer has started.
        fake.play([Reply::silence()]);
        let asking = {
            let provider = provider.clone();
            tokio::spawn(async move { provider.ask(&question()).await.map(drop) })
        };
        fake.asked(2).await;
        asking.abort();
        fake.hung_up(2).await;

        // While the provider sends more than the client reads.
        let endless = (0..10_000).fold(Reply::stream().begins(), |reply, _| reply.says(&"much ".repeat(100)));
        fake.play([endless]);
        drop(provider.ask(&question()).await.expect("an answer"));
        fake.hung_up(3).await;
    }
}
