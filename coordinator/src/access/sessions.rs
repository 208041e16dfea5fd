//! Browsers that were let in: a link that works once gives a cookie, which stands for the token that asked for the link.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue, header};
use lru::LruCache;
use rand::RngExt as _;
use rand::distr::Alphanumeric;

/// What the cookie's name begins with. The rest is the process's own: cookies do not tell ports of a host apart.
const COOKIE: &str = "spelrum-";

/// Letters and digits of the rest.
const NAME_CHARACTERS: usize = 8;

/// How long a link works.
const LINK_LASTS: Duration = Duration::from_secs(600);

/// How long a cookie lasts after it was used last, unless the browser ends before.
const COOKIE_LASTS: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Links and cookies at once (invariant 9): the longest unused give way.
const PLACES: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// Letters and digits of a secret: 190 bits.
const SECRET_CHARACTERS: usize = 32;

/// The links that were given out, and the browsers that used one. They end with the process.
#[derive(Clone, Debug)]
pub(crate) struct Sessions {
    cookie: Arc<str>,
    both: Arc<Mutex<Both>>,
}

#[derive(Debug)]
struct Both {
    links: LruCache<String, Entry>,
    browsers: LruCache<String, Entry>,
}

/// What a secret stands for.
#[derive(Clone, Debug)]
struct Entry {
    /// The header of the call that asked for the link.
    authorization: HeaderValue,
    until: Instant,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        let both = Both { links: LruCache::new(PLACES), browsers: LruCache::new(PLACES) };
        let cookie = format!("{COOKIE}{}", random(NAME_CHARACTERS)).into();
        Self { cookie, both: Arc::new(Mutex::new(both)) }
    }

    /// The path of a new link, which allows what this header allows.
    pub(crate) fn link(&self, authorization: HeaderValue, now: Instant) -> String {
        let secret = secret();
        let entry = Entry { authorization, until: now + LINK_LASTS };
        self.lock().links.put(secret.clone(), entry);
        format!("/enter?key={secret}")
    }

    /// Lets a browser in by the secret of a link, which then works no more. Returns the header that sets its cookie; `None` if
    /// the link has been used, or is too old.
    pub(crate) fn enter(&self, key: &str, is_tls: bool, now: Instant) -> Option<HeaderValue> {
        let mut both = self.lock();
        let link = both.links.pop(key).filter(|link| now < link.until)?;
        let secret = secret();
        let secure = if is_tls { "; Secure" } else { "" };
        let name = &self.cookie;
        let cookie = format!("{name}={secret}; Path=/; HttpOnly; SameSite=Strict{secure}");
        let cookie = HeaderValue::try_from(cookie).ok()?;
        both.browsers.put(secret, Entry { until: now + COOKIE_LASTS, ..link });
        Some(cookie)
    }

    /// Gives a call from a browser that was let in the header that its cookie stands for. A call with a header of its own
    /// keeps that.
    pub(crate) fn authorize(&self, headers: &mut HeaderMap, now: Instant) {
        if headers.contains_key(header::AUTHORIZATION) {
            return;
        }
        let Some(authorization) = self.authorization(headers, now) else { return };
        headers.insert(header::AUTHORIZATION, authorization);
    }

    fn authorization(&self, headers: &HeaderMap, now: Instant) -> Option<HeaderValue> {
        let cookies =
            headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|cookies| cookies.split(';'));
        let secret =
            pairs.find_map(|pair| pair.trim().strip_prefix(&*self.cookie)?.strip_prefix('='))?;
        let mut both = self.lock();
        let entry = both.browsers.get_mut(secret)?;
        if now >= entry.until {
            both.browsers.pop(secret);
            return None;
        }
        entry.until = now + COOKIE_LASTS;
        Some(entry.authorization.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Both> {
        self.both.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn secret() -> String {
    random(SECRET_CHARACTERS)
}

fn random(characters: usize) -> String {
    rand::rng().sample_iter(Alphanumeric).take(characters).map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookies(text: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_str(text).unwrap())])
    }

    #[test]
    fn a_link_lets_one_browser_in_for_what_its_owner_may_do() {
        let (sessions, now) = (Sessions::new(), Instant::now());
        let token = HeaderValue::from_static("Bearer secret");
        let path = sessions.link(token.clone(), now);
        let key = path.strip_prefix("/enter?key=").unwrap();
        assert!(sessions.enter("other", false, now).is_none());
        let set = sessions.enter(key, true, now).unwrap();
        let set = set.to_str().unwrap();
        for word in ["HttpOnly", "SameSite=Strict", "Secure", "Path=/"] {
            assert!(set.contains(word), "{set}");
        }
        assert!(sessions.enter(key, true, now).is_none(), "a link works once");
        let cookie = set.split(';').next().unwrap();
        let mut headers = cookies(&format!("a=b; {cookie}"));
        sessions.authorize(&mut headers, now);
        assert_eq!(headers.get(header::AUTHORIZATION), Some(&token));
        // Its own header comes first.
        let mut headers = cookies(cookie);
        headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer mine"));
        sessions.authorize(&mut headers, now);
        assert_eq!(headers[header::AUTHORIZATION], "Bearer mine");
        let name = cookie.split('=').next().unwrap();
        for forged in [&format!("{name}="), &format!("{name}=x"), name, "spelrum-=x", "=; ;;"] {
            let mut headers = cookies(forged);
            sessions.authorize(&mut headers, now);
            assert!(!headers.contains_key(header::AUTHORIZATION), "{forged}");
        }
    }

    #[test]
    fn links_and_cookies_end() {
        let (sessions, now) = (Sessions::new(), Instant::now());
        let key = |path: &str| path.strip_prefix("/enter?key=").unwrap().to_owned();
        let token = HeaderValue::from_static("Bearer secret");
        let old = key(&sessions.link(token.clone(), now));
        assert!(sessions.enter(&old, false, now + LINK_LASTS).is_none());
        let set = sessions.enter(&key(&sessions.link(token.clone(), now)), false, now).unwrap();
        let cookie = set.to_str().unwrap().split(';').next().unwrap().to_owned();
        let is_in = |now| {
            let mut headers = cookies(&cookie);
            sessions.authorize(&mut headers, now);
            headers.contains_key(header::AUTHORIZATION)
        };
        // Use keeps it.
        let later = now + COOKIE_LASTS / 2;
        assert!(is_in(later) && is_in(later + COOKIE_LASTS / 2));
        assert!(!is_in(later + 2 * COOKIE_LASTS) && !is_in(now));
        // Strangers' links cannot fill the memory.
        for _ in 0..3_000 {
            sessions.link(token.clone(), now);
        }
        assert!(sessions.lock().links.len() <= PLACES.get());
    }
}
