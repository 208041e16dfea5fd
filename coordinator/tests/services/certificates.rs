//! Client certificates instead of tokens: whoever shows one does its part, and nobody gets in by any other.

use std::path::PathBuf;

use spelrum_coordinator::access::{Role, Roles, TokenBook, certificate_uris};
use spelrum_proto::{Reason, Refusal, TrustError};
use spelrum_test_support::{Authority, DEADLINE, Served, Site, Validity, eventually};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::tokens::{EmptyCall, every_call};

fn status() -> EmptyCall {
    EmptyCall::new("GET /api/v1/status")
}

fn submit() -> EmptyCall {
    EmptyCall::new("POST /api/v1/experiments")
}

/// A CA of coordinators, another one of clients, and a coordinator that knows both and these tokens.
struct Cluster {
    servers: Authority,
    clients: Authority,
    tokens: PathBuf,
    served: Served,
    #[expect(dead_code, reason = "its directory is there as long as this is")]
    site: Site,
}

impl Cluster {
    async fn start() -> Self {
        let (servers, clients, site) = (Authority::new(), Authority::new(), Site::new());
        let tokens = site.db().with_file_name("tokens.toml");
        std::fs::write(&tokens, "").unwrap();
        let identity = servers.certify(&["127.0.0.1"], Validity::Now);
        let served = site.serve_with_tls_to(identity, Some(&tokens), Some(&clients.pem())).await;
        Self { servers, clients, tokens, served, site }
    }

    fn certify(&self, name: &str, role: Role) -> (String, String) {
        let uris = certificate_uris(name, [role].into_iter().collect()).unwrap();
        let uris: Vec<&str> = uris.iter().map(String::as_str).collect();
        self.clients.certify_client(&uris, Validity::Now)
    }

    fn token(&self, name: &str, role: Role) -> String {
        let (roles, random): (Roles, _) = ([role].into_iter().collect(), [role as u8 + 1; 32]);
        TokenBook::change(&self.tokens, |book| book.add(name, roles, "", random)).unwrap()
    }

    async fn channel(
        &self,
        identity: Option<&(String, String)>,
    ) -> Result<Channel, tonic::transport::Error> {
        let trusted = Certificate::from_pem(self.servers.pem());
        let tls = ClientTlsConfig::new().ca_certificate(trusted);
        let tls = match identity {
            Some((certificate, key)) => tls.identity(Identity::from_pem(certificate, key)),
            None => tls,
        };
        let url = format!("https://{}", self.served.address);
        let endpoint = Endpoint::new(url).unwrap().tls_config(tls).unwrap();
        tokio::time::timeout(DEADLINE, endpoint.connect()).await.expect("an end in time")
    }

    /// Why a call with an empty message is not answered, if for who asks.
    async fn refused(
        &self,
        call: &EmptyCall,
        identity: Option<&(String, String)>,
        token: Option<&str>,
    ) -> Option<String> {
        for _ in 0..50 {
            let answer = match self.channel(identity).await {
                Ok(channel) => refused(channel, call, token).await,
                Err(error) => Some(explain_failure(&error)),
            };
            if answer.as_deref() != Some(LOST) {
                return answer;
            }
        }
        panic!("the reason is lost again and again");
    }
}

/// Whoever calls loses the reason, if the connection ends before the call is on its way.
const LOST: &str = "no connection, and no reason";

fn explain_failure(error: &(dyn std::error::Error + 'static)) -> String {
    let Some(trust_error) = TrustError::from_error(error) else { return LOST.to_owned() };
    let TrustError { problem, remedy, is_callers } = trust_error;
    assert!(is_callers, "{problem}");
    format!("no connection: {problem}; {remedy}")
}

async fn refused(channel: Channel, call: &EmptyCall, token: Option<&str>) -> Option<String> {
    let status = call.send(channel, token).await?;
    let Some(refusal) = Refusal::from_status(&status) else { return without_refusal(&status) };
    let is_for_who_asks = matches!(refusal.reason, Reason::BadToken | Reason::WrongRole);
    is_for_who_asks.then(|| format!("{}: {}", refusal.reason.name(), refusal.problem))
}

/// A message that a service could not read was let in.
fn without_refusal(status: &Status) -> Option<String> {
    (status.code() != Code::InvalidArgument).then(|| explain_failure(status))
}

/// A certificate lets in where a token of its role does, and nowhere else.
#[tokio::test]
async fn every_method_is_for_its_role_whatever_proves_it() {
    let cluster = Cluster::start().await;
    let calls = every_call().await;
    for role in Role::ALL {
        let token = cluster.token(role.name(), role);
        let identity = cluster.certify(role.name(), role);
        let by_certificate = cluster.channel(Some(&identity)).await.unwrap();
        let by_token = cluster.channel(None).await.unwrap();
        eventually("the token is known", async || {
            let answer = refused(by_token.clone(), &status(), Some(&token)).await;
            (!answer.is_some_and(|answer| answer.starts_with("BAD_TOKEN"))).then_some(())
        })
        .await;
        for call in &calls {
            let name = &call.name;
            let token = refused(by_token.clone(), call, Some(&token)).await;
            let certificate = refused(by_certificate.clone(), call, None).await;
            let is_role = |answer: &Option<String>| {
                answer.as_ref().is_none_or(|answer| answer.starts_with("WRONG_ROLE"))
            };
            assert!(is_role(&token) && is_role(&certificate), "{name}: {token:?} {certificate:?}");
            assert_eq!(token.is_none(), certificate.is_none(), "{name} {role}");
        }
    }
    cluster.served.stop().await.unwrap();
}

#[tokio::test]
async fn no_other_certificate_lets_anybody_in() {
    let cluster = Cluster::start().await;
    let good = ["spelrum:submit:ada"];
    let client_identity =
        |authority: &Authority, uris: &[&str], validity| authority.certify_client(uris, validity);
    let clients = &cluster.clients;
    let shown = [
        ("nothing", None),
        (
            "of another CA of the same name",
            Some(client_identity(&Authority::new(), &good, Validity::Now)),
        ),
        ("of the coordinator's CA", Some(client_identity(&cluster.servers, &good, Validity::Now))),
        ("expired", Some(client_identity(clients, &good, Validity::Expired))),
        ("not yet valid", Some(client_identity(clients, &good, Validity::NotYet))),
        ("a coordinator's own", Some(cluster.servers.certify(&["127.0.0.1"], Validity::Now))),
        ("for coordinators alone", Some(clients.certify_for_coordinators_alone(&good))),
        ("for any use, without a role", Some(clients.certify(&["127.0.0.1"], Validity::Now))),
        ("without a role", Some(client_identity(clients, &[], Validity::Now))),
        (
            "of an unknown role",
            Some(client_identity(clients, &["spelrum:admin:ada"], Validity::Now)),
        ),
        (
            "of two names",
            Some(client_identity(
                clients,
                &["spelrum:read:ada", "spelrum:submit:bob"],
                Validity::Now,
            )),
        ),
        ("that may read", Some(client_identity(clients, &["spelrum:read:ada"], Validity::Now))),
    ];
    let hello = EmptyCall::new("spelrum.v1.Work/Hello");
    let mut answers = Vec::new();
    for (description, identity) in shown {
        let greeted = cluster.refused(&hello, identity.as_ref(), None).await;
        assert!(greeted.is_some(), "{description} is let in as a worker");
        let answer = cluster.refused(&submit(), identity.as_ref(), None).await;
        answers.push(format!(
            "{description}: {}",
            answer.unwrap_or_else(|| panic!("{description} is let in"))
        ));
    }
    insta::assert_snapshot!(answers.join("\n"));
    // The same, but good.
    let identity = client_identity(clients, &good, Validity::Now);
    assert_eq!(cluster.refused(&submit(), Some(&identity), None).await, None);
    let worker = client_identity(clients, &["spelrum:work:ada"], Validity::Now);
    assert_eq!(cluster.refused(&hello, Some(&worker), None).await, None);
    cluster.served.stop().await.unwrap();
}

/// Who brings both is judged by the token: one that is wrong, or was revoked, is refused.
#[tokio::test]
async fn a_token_is_judged_alone() {
    let cluster = Cluster::start().await;
    let (read, ada) = (cluster.token("guest", Role::Read), cluster.certify("ada", Role::Submit));
    eventually("the token is known", async || {
        cluster.refused(&status(), None, Some(&read)).await.is_none().then_some(())
    })
    .await;
    let answer_to = async |call: &EmptyCall, token: &str| {
        let answer = cluster.refused(call, Some(&ada), Some(token)).await;
        answer.map(|answer| answer.split(':').next().unwrap().to_owned())
    };
    assert_eq!(answer_to(&status(), &read).await, None);
    assert_eq!(answer_to(&submit(), &read).await.as_deref(), Some("WRONG_ROLE"));
    assert_eq!(answer_to(&status(), "spelrum_0").await.as_deref(), Some("BAD_TOKEN"));
    TokenBook::change(&cluster.tokens, |book| book.remove("guest")).unwrap();
    eventually("the revoked one is refused", async || answer_to(&status(), &read).await).await;
    cluster.served.stop().await.unwrap();
}

/// Also on the connection that was let in by it, and for all of its name.
#[tokio::test]
async fn a_revoked_certificate_is_refused_within_a_moment() {
    let cluster = Cluster::start().await;
    let (first, second) =
        (cluster.certify("ada", Role::Submit), cluster.certify("ada", Role::Submit));
    let other = cluster.certify("ada-2", Role::Submit);
    let open = cluster.channel(Some(&first)).await.unwrap();
    assert_eq!(refused(open.clone(), &status(), None).await, None);
    TokenBook::change(&cluster.tokens, |book| book.refuse_certificate("ada", "")).unwrap();
    let answer =
        eventually("it is refused", async || refused(open.clone(), &status(), None).await).await;
    assert_eq!(answer, "BAD_TOKEN: the client certificate of `ada` was revoked");
    assert_eq!(cluster.refused(&status(), Some(&second), None).await, Some(answer));
    assert_eq!(cluster.refused(&status(), Some(&other), None).await, None);
    cluster.served.stop().await.unwrap();
}

/// Whatever supervises a coordinator needs neither.
#[tokio::test]
async fn health_stays_open() {
    let cluster = Cluster::start().await;
    let mut health = HealthClient::new(cluster.channel(None).await.unwrap());
    let request = HealthCheckRequest { service: "spelrum.v1.Work".to_owned() };
    health.check(request).await.unwrap();
    cluster.served.stop().await.unwrap();
}

/// Also where there is no file of tokens.
#[tokio::test]
async fn where_certificates_are_taken_one_is_demanded() {
    let mut cluster = Cluster::start().await;
    let site = Site::new();
    let identity = cluster.servers.certify(&["127.0.0.1"], Validity::Now);
    let ca = cluster.clients.pem();
    let served = site.serve_with_tls_to(identity, None, Some(&ca)).await;
    std::mem::replace(&mut cluster.served, served).stop().await.unwrap();
    let identity = cluster.certify("ada", Role::Submit);
    assert_eq!(cluster.refused(&status(), Some(&identity), None).await, None);
    for token in [None, Some("guess")] {
        let answer = cluster.refused(&status(), None, token).await.unwrap();
        assert!(answer.starts_with("BAD_TOKEN"), "{answer}");
    }
    cluster.served.stop().await.unwrap();
}
