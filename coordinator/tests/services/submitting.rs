//! The page of a new sweep: what it shows of a text, whom it lets submit, and that nothing is submitted twice.

use spelrum_answers::{MakeBrowserLink, SubmitSweep};
use spelrum_coordinator::access::{Role, Roles, TokenBook};
use spelrum_proto::api::Api;
use spelrum_proto::{Bearer, Reason};
use spelrum_test_support::{HandWorker, Served, Site, quick_sweep, reason, submission};
use tonic::transport::Endpoint;

use crate::pages::{Answer, get, send_body};

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

/// Sends the form as a browser does.
async fn post(served: &Served, fields: &[(&str, &str)], more: &str) -> Answer {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let more = format!("{FORM}Origin: http://{}\r\n{more}", served.address);
    send_body(served.address, "POST", "/submit", &more, &body).await
}

/// The value of a hidden field.
fn field<'a>(page: &'a str, name: &str) -> &'a str {
    let at = format!("<input type=\"hidden\" name=\"{name}\" value=\"");
    page.split(&at).nth(1).unwrap_or_else(|| panic!("{name}: {page}")).split('"').next().unwrap()
}

#[tokio::test]
async fn a_pasted_sweep_is_planned_and_submitted_once() {
    let site = Site::new();
    let served = site.serve().await;
    let empty = get(&served, "/submit", "").await;
    assert!(empty.body.contains("<textarea") && !empty.body.contains("<form method=\"get"));
    let sweep = quick_sweep("pasted", 6).replace('\n', "\r\n");
    let planned = post(&served, &[("sweep", &sweep)], "").await;
    assert_eq!(planned.status(), 200, "{}", planned.body);
    let no_worker =
        "no worker is connected; one slot as fast as the coordinator's machine would take about";
    for words in
        ["<h2>pasted</h2>", "<dt>games</dt><dd>6</dd>", "<dt>cells</dt><dd>1</dd>", no_worker]
    {
        assert!(planned.body.contains(words), "{words}: {}", planned.body);
    }
    assert_eq!(served.status().await.experiments_total, 0, "planning changes nothing");
    let uuid = field(&planned.body, "uuid").to_owned();
    let mut places = Vec::new();
    for _ in 0..2 {
        let sent = post(&served, &[("uuid", &uuid), ("sweep", &sweep)], "").await;
        assert_eq!(sent.status(), 303, "{}", sent.body);
        places.push(sent.header("location").unwrap().to_owned());
    }
    assert_eq!(places, [format!("/experiments/{uuid}"), format!("/experiments/{uuid}")]);
    assert_eq!(served.status().await.experiments_total, 1);

    // The same text has nothing to submit, and another one tells what it changes.
    let again = post(&served, &[("sweep", &sweep)], "").await;
    assert!(again.body.contains("exactly this sweep") && !again.body.contains("name=\"uuid\""));
    let more = post(&served, &[("sweep", &quick_sweep("pasted", 8))], "").await;
    assert!(more.body.contains("This sweep would change it"), "{}", more.body);
    assert!(more.body.contains("to play   8 games"), "{}", more.body);
    // Timed games are played on exclusive slots alone.
    let timed = quick_sweep("timed", 2).replace("depth = 1", "move_time = \"1ms\"");
    for quiet_slots in [0, 2] {
        let mut hello = spelrum_test_support::hello(&uuid::Uuid::new_v4().to_string());
        hello.slots = 4;
        hello.quiet_slots = Some(quiet_slots);
        served.work().await.hello(hello).await.unwrap();
        let planned = post(&served, &[("sweep", &timed)], "").await.body;
        let (slots, on_them) = match quiet_slots {
            0 => (4, ""),
            _ => (8, ", timed games on 6 of them"),
        };
        let words = format!(" on {slots} slots as fast as the coordinator's machine{on_them}</dd>");
        assert!(planned.contains(&words), "{words}: {planned}");
    }
    // A link to the experiment tells its result.
    HandWorker::new(&served).await.work_until_done().await;
    let page = get(&served, &places[0], "").await.body;
    let card = page.split("property=\"og:description\" content=\"").nth(1).unwrap();
    assert!(card.split('"').next().unwrap().contains("; 6 games"), "{card}");
}

#[tokio::test]
async fn a_fault_is_shown_beside_its_line() {
    let site = Site::new();
    let served = site.serve().await;
    let refused = async |sweep: &str| {
        let page = post(&served, &[("sweep", sweep)], "").await;
        assert_eq!(page.status(), 422, "{}", page.body);
        page.body
    };
    let marked = |body: &str| {
        let line = body.split("<li class=\"marked\">").nth(1).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{body}")).split("</li>").next().unwrap().to_owned()
    };
    let faulty = quick_sweep("faulty", 6).replace("games = 6", "gamess = 6 # <b>");
    let body = refused(&faulty).await;
    let line = marked(&body);
    assert!(
        line.trim_start_matches("<code>")
            .trim_start()
            .starts_with("<mark>gamess</mark> = 6 # &lt;b&gt;</code>"),
        "{line}"
    );
    let refusal = served.call(&submission(&faulty)).await.unwrap_err();
    let refusal = spelrum_proto::Refusal::from_status(&refusal).unwrap();
    let [problem, remedy] =
        [&refusal.problem, &refusal.remedy].map(|text| text.replace('"', "&quot;"));
    assert!(line.contains(&problem) && line.contains(&remedy), "{refusal}: {line}");
    // Files of the user's machine cannot be read.
    let random = "{ kind = \"random\", plies = 1 }";
    let book = "{ kind = \"book\", file = \"book.epd\" }";
    let line = marked(&refused(&quick_sweep("book", 6).replace(random, book)).await);
    assert!(line.contains("book.epd") && line.contains("spelrum submit"), "{line}");
    // What is no sweep at all, or none that any page has seen.
    for hostile in
        ["", "\0", "= = =", "<script>alert(1)</script>", "\u{202e}name", "name = \"x\r\n"]
    {
        let body = refused(hostile).await;
        assert!(!body.contains("<script>alert") && body.contains("role=\"alert\""), "{body}");
    }
    for uuid in ["", "x", "../../x", "\" onclick=x"] {
        let page = post(&served, &[("uuid", uuid), ("sweep", &quick_sweep("x", 2))], "").await;
        assert_eq!(page.status(), 400, "{}", page.body);
    }
    assert_eq!(served.status().await.experiments_total, 0);
}

#[tokio::test]
async fn a_large_sweep_is_answered_and_a_larger_one_refused() {
    let site = Site::new();
    let served = site.serve().await;
    let sized = |bytes: usize| {
        let sweep = quick_sweep("large", 2);
        let comment = "# <&\n".repeat((bytes - sweep.len()) / 5);
        let rest = "#".repeat(bytes - sweep.len() - comment.len());
        comment + &rest + "\n" + &sweep[..sweep.len() - 1]
    };
    let page = post(&served, &[("sweep", &sized(1 << 20))], "").await;
    assert_eq!(page.status(), 200);
    let uuid = field(&page.body, "uuid").to_owned();
    let sent = post(&served, &[("uuid", &uuid), ("sweep", &sized(1 << 20))], "").await;
    assert_eq!(sent.status(), 303, "{}", sent.body);
    let page = post(&served, &[("sweep", &sized((1 << 20) + 1))], "").await;
    assert_eq!(page.status(), 400);
    assert!(page.body.contains("1048577 bytes; the limit is 1048576"), "{}", page.body);
}

#[tokio::test]
async fn only_who_may_submit_does_and_not_by_forms_of_other_sites() {
    let site = Site::new();
    let file = site.db().with_file_name("tokens.toml");
    let [read, submit] = [Role::Read, Role::Submit].map(|role| {
        let roles: Roles = [role].into_iter().collect();
        TokenBook::change(&file, |book| book.add(role.name(), roles, "", [role as u8; 32])).unwrap()
    });
    let served = site.serve_with_tokens(&file).await;
    let enter = async |token: &str| {
        let channel = Endpoint::new(served.url()).unwrap().connect().await.unwrap();
        let api = Api::new(channel, Bearer::new(Some(&token.parse().unwrap())));
        let link = api.call(&MakeBrowserLink {}).await.unwrap().url;
        let path = link.strip_prefix(&served.url()).unwrap().to_owned();
        let entered = send_body(served.address, "POST", &path, "", "").await;
        let set = entered.header("set-cookie").unwrap();
        format!("Cookie: {}\r\n", set.split(';').next().unwrap())
    };
    let sweep = quick_sweep("mine", 2);
    let fields = [("sweep", &*sweep)];
    assert_eq!(post(&served, &fields, "").await.status(), 401);
    let reader = enter(&read).await;
    assert_eq!(get(&served, "/submit", &reader).await.status(), 200);
    assert_eq!(post(&served, &fields, &reader).await.status(), 403);
    let submitter = enter(&submit).await;
    assert_eq!(post(&served, &fields, &submitter).await.status(), 200);
    let body = format!("sweep={sweep}&uuid=00000000-0000-4000-8000-000000000000");
    for foreign in [
        "Origin: http://evil.example\r\n",
        "Origin: null\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
        // A form that does not say where it is from is not a browser's.
        "",
    ] {
        let more = format!("{FORM}{submitter}{foreign}");
        let refused = send_body(served.address, "POST", "/submit", &more, &body).await;
        assert_eq!(refused.status(), 403, "{foreign}: {}", refused.body);
    }
}

#[tokio::test]
async fn a_sweep_of_a_program_that_was_not_pushed_is_refused() {
    let site = Site::new();
    let served = site.serve().await;
    let player = |name: &str| {
        let hash = "ab".repeat(32);
        format!(
            "players.{name} = {{ algorithm = \"ugi\", engine = \"{name}\", program = \"{hash}\", depth = 1 }}\n"
        )
    };
    let sweep = format!(
        "name = \"pushed\"\ngame = \"connect-four\"\ngames = 2\n{}{}",
        player("a"),
        player("b")
    );
    // A preview comes before the program is pushed.
    let preview = SubmitSweep { preview: true, ..submission(&sweep) };
    assert_eq!(served.call(&preview).await.unwrap().games, 2);
    let page = post(&served, &[("sweep", &sweep)], "").await;
    assert!(page.body.contains("spelrum engine push"), "{}", page.body);
    let refused = served.call(&submission(&sweep)).await;
    let status = refused.as_ref().unwrap_err().to_string();
    assert!(status.contains("spelrum engine push"), "{status}");
    assert_eq!(reason(refused), Reason::UnknownProgram);
}
