//! Certificates and private keys in the outputs of a site, which several rules judge.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smol_str::SmolStr;

use super::{SiteFacts, leftover_placeholder};
use crate::certificate::{BEGIN, Certificate, Item, Verdict, items};
use crate::diagnostic::{Diagnostic, Label, Rule};
use crate::graph::DocId;
use crate::source::{Span, offset};
use crate::system::deckhand::catalog::{AUTHORITY, CERTIFICATE};
use crate::yaml::path::{Location, first_inside};
use crate::yaml::{Node, Value};

/// Maximum number of labels at documents that use a certificate.
const MAX_USES: usize = 4;

/// Certificates and private keys in the outputs of a site.
pub(crate) struct SiteCertificates {
    /// Strings with PEM, each once, however many documents contain it.
    texts: Vec<PemText>,
    /// Certificates with their authorities.
    issued: Vec<IssuedCertificate>,
    /// Certificates and private keys that belong together.
    pub(super) pairs: Vec<KeyPair>,
    /// Documents of certificates that contain none.
    pub(super) empty: Vec<DocId>,
    /// Documents whose certificates or private keys are encrypted, by their places.
    encrypted: BTreeSet<Span>,
}

/// Contents of strings with PEM, and verdicts about their certificates: several sites, and both sides of
/// a comparison, have the same strings.
#[derive(Default)]
pub(crate) struct KnownPem {
    items: Mutex<HashMap<SmolStr, Arc<[NumberedItem]>, FastHash>>,
    verdicts: Mutex<HashMap<TextPlaces, Verdict, FastHash>>,
}

/// Two certificates, each by its string and its block there.
type TextPlaces = [(SmolStr, usize); 2];

type FastHash = foldhash::fast::RandomState;

/// Number of a block in its string, and its content.
type NumberedItem = (usize, Item);

impl KnownPem {
    fn items(&self, text: &SmolStr) -> Arc<[NumberedItem]> {
        if let Some(known) = locked(&self.items).get(text) {
            return known.clone();
        }
        let number = |start: usize| text[..start].matches(BEGIN).count();
        let read = items(text).into_iter();
        let read: Arc<[NumberedItem]> = read.map(|(start, it)| (number(start), it)).collect();
        locked(&self.items).insert(text.clone(), read.clone());
        read
    }

    /// Whether the second of two certificates signed the first one.
    fn verdict(&self, places: TextPlaces, [certificate, authority]: [&Certificate; 2]) -> Verdict {
        if let Some(known) = locked(&self.verdicts).get(&places) {
            return *known;
        }
        let verdict = certificate.is_issued_by(authority);
        locked(&self.verdicts).insert(places, verdict);
        verdict
    }
}

fn locked<T>(known: &Mutex<T>) -> MutexGuard<'_, T> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A string with PEM.
struct PemText {
    text: SmolStr,
    at: Span,
    is_secret: bool,
    /// Documents that contain it, and where.
    uses: Vec<(DocId, Location)>,
    items: Arc<[NumberedItem]>,
}

/// Place of a certificate or key: index of its string, and of its block there.
pub(super) type ItemPlace = [usize; 2];

/// A certificate, and what is known of its authority.
pub(super) struct IssuedCertificate {
    pub(super) at: ItemPlace,
    /// Whether its authority signed it; `None` if the site does not have its authority.
    verdict: Option<Verdict>,
    /// The certificate that has to be its authority's.
    pub(super) authority: Option<ItemPlace>,
}

/// A certificate and the private key beside it, or of the same name.
pub(super) struct KeyPair {
    pub(super) certificate: ItemPlace,
    pub(super) key: ItemPlace,
    /// The document that has both, and where it has the key; `None` for documents of the same name.
    pub(super) beside: Option<(DocId, Location)>,
    /// Whether they belong together; `None` if that cannot be computed.
    matches: Option<bool>,
}

/// Problem of the path from an authority to a self-signed one.
pub(super) enum PathProblem {
    /// Its certificate does not allow it to sign others.
    NotAnAuthority,
    /// The site does not have its issuer.
    MissingIssuer,
    /// An authority above it allows fewer authorities below.
    TooLong { above: ItemPlace, allowed: u8 },
}

/// State of a certificate at the time of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CertificateState {
    /// Not judged by its date.
    Undated,
    Valid,
    Expiring,
    Expired,
    NotYetValid,
}

/// Certificates of a run, each by its place, so that several sites count it once.
#[derive(Clone, Debug, Default)]
pub struct CertificateTally {
    pub(crate) checked: BTreeMap<(Span, usize), CertificateState>,
    pub(crate) unreadable: BTreeSet<(Span, usize)>,
    /// Certificates and keys that were not compared with their authority or their certificate.
    pub(crate) unverified: BTreeSet<(Span, usize)>,
    pub(crate) encrypted: BTreeSet<Span>,
}

impl CertificateTally {
    /// Adds those of another site.
    pub(crate) fn add(&mut self, other: Self) {
        self.checked.extend(other.checked);
        self.unreadable.extend(other.unreadable);
        self.unverified.extend(other.unverified);
        self.encrypted.extend(other.encrypted);
    }
}

impl SiteCertificates {
    /// Reads the certificates of a site, and compares them with their keys and authorities.
    pub(super) fn of(facts: &SiteFacts<'_>) -> Self {
        let mut site = Self {
            texts: Vec::new(),
            issued: Vec::new(),
            pairs: Vec::new(),
            empty: Vec::new(),
            encrypted: BTreeSet::new(),
        };
        let mut known: HashMap<(Span, &SmolStr), usize, FastHash> = HashMap::default();
        let outputs = facts.site.iter();
        for (doc, document) in outputs.filter(|(doc, _)| facts.site.is_output(*doc)) {
            let is_certificate = is_certificate(&document.key.schema);
            let schemas = AUTHORITY.iter().chain(&CERTIFICATE);
            let is_of_pki = schemas.into_iter().any(|it| *it == &*document.key.schema);
            if is_of_pki && document.wrapped_encrypted {
                site.encrypted.insert(document.span);
                continue;
            }
            let Some(data) = facts.rendered.data(doc) else {
                continue;
            };
            let mut uses = Vec::new();
            if has_pem(data) {
                let mut add = |node: &Node, place: &Location| {
                    let text = node.as_str().filter(|text| text.contains(BEGIN));
                    uses.extend(text.map(|_| place.clone()));
                    false
                };
                add(data, &Location::root());
                first_inside(data, add);
            }
            let texts: Vec<(Location, usize)> = uses
                .into_iter()
                .map(|place| {
                    let node = place.get(data).expect("the place was found in the data");
                    let Value::String(text) = &node.value else {
                        unreachable!("only strings were found");
                    };
                    let next = site.texts.len();
                    let index = *known.entry((node.span, text)).or_insert(next);
                    if index == next {
                        site.texts.push(PemText {
                            text: text.clone(),
                            at: node.span,
                            is_secret: node.secret,
                            uses: Vec::new(),
                            items: facts.pem.items(text),
                        });
                    }
                    site.texts[index].uses.push((doc, place.clone()));
                    (place, index)
                })
                .collect();
            let has_certificate = |(_, text): &(Location, usize)| {
                let mut items = site.texts[*text].items.iter();
                items.any(|(_, item)| {
                    matches!(item, Item::Certificate(_) | Item::UnreadableCertificate)
                })
            };
            if is_certificate && data.as_str().is_some() && !texts.iter().any(has_certificate) {
                site.empty.push(doc);
            }
            let pairs = site.pairs_beside(doc, &texts);
            site.pairs.extend(pairs);
        }
        let named = site.pairs_of_names(facts);
        // A pair of documents of the same name is not reported again where both are used.
        let is_named = |pair: &KeyPair| {
            let mut named = named.iter();
            named.any(|it| (it.certificate, it.key) == (pair.certificate, pair.key))
        };
        site.pairs.retain(|pair| !is_named(pair));
        site.pairs.extend(named);
        site.issued = site.with_authorities(facts);
        site
    }

    /// Counts of the site.
    pub(crate) fn tally(&self, facts: &SiteFacts<'_>) -> CertificateTally {
        let key = |at: ItemPlace| (self.texts[at[0]].at, self.number(at));
        let unreadable = self.places().filter(|at| {
            matches!(
                self.item(*at),
                Item::UnreadableCertificate | Item::UnreadableKey
            )
        });
        let empty = self.empty.iter().map(|doc| (facts.document(*doc).span, 0));
        let unsigned = self.issued.iter();
        let unsigned = unsigned.filter(|it| it.verdict == Some(Verdict::Unsupported));
        let unmatched = self.pairs.iter().filter(|pair| pair.matches.is_none());
        let unverified = unsigned.map(|it| it.at);
        let unverified = unverified.chain(unmatched.map(|pair| pair.certificate));
        CertificateTally {
            checked: self
                .certificates()
                .map(|(at, certificate)| (key(at), state(facts, certificate)))
                .collect(),
            unreadable: unreadable.map(key).chain(empty).collect(),
            unverified: unverified.map(key).collect(),
            encrypted: self.encrypted.clone(),
        }
    }

    /// All certificates and keys.
    pub(super) fn places(&self) -> impl Iterator<Item = ItemPlace> {
        let texts = self.texts.iter().enumerate();
        texts.flat_map(|(text, pem)| (0..pem.items.len()).map(move |item| [text, item]))
    }

    /// All certificates that can be read.
    pub(super) fn certificates(&self) -> impl Iterator<Item = (ItemPlace, &Certificate)> {
        self.places()
            .filter_map(|at| Some((at, self.certificate(at)?)))
    }

    /// Certificates that another authority than the intended one signed.
    pub(super) fn misissued(&self) -> impl Iterator<Item = &IssuedCertificate> {
        let all = self.issued.iter();
        all.filter(|it| it.verdict == Some(Verdict::Bad))
    }

    /// Pairs that do not belong together.
    pub(super) fn mismatches(&self) -> impl Iterator<Item = &KeyPair> {
        self.pairs.iter().filter(|it| it.matches == Some(false))
    }

    pub(super) fn item(&self, [text, item]: ItemPlace) -> &Item {
        &self.texts[text].items[item].1
    }

    pub(super) fn certificate(&self, at: ItemPlace) -> Option<&Certificate> {
        match self.item(at) {
            Item::Certificate(certificate) => Some(certificate),
            Item::Key(_)
            | Item::UnreadableCertificate
            | Item::UnreadableKey
            | Item::EncryptedKey => None,
        }
    }

    /// Whether nothing in its string may be shown.
    pub(super) fn is_secret(&self, at: ItemPlace) -> bool {
        self.texts[at[0]].is_secret
    }

    /// Whether it is all that a document of this schema, or of the other one, is for.
    pub(super) fn is_of(&self, facts: &SiteFacts<'_>, at: ItemPlace, schemas: &[&str]) -> bool {
        let mut uses = self.texts[at[0]].uses.iter();
        uses.any(|(doc, place)| {
            place.is_root() && schemas.contains(&&*facts.document(*doc).key.schema)
        })
    }

    fn number(&self, [text, item]: ItemPlace) -> usize {
        self.texts[text].items[item].0
    }

    /// Problem of the path from an authority's certificate to a self-signed one.
    pub(super) fn path_problem(
        &self,
        facts: &SiteFacts<'_>,
        start: ItemPlace,
    ) -> Option<PathProblem> {
        let mut at = start;
        let mut current = self.certificate(at)?;
        if !current.is_authority {
            return Some(PathProblem::NotAnAuthority);
        }
        for below in 1..=self.texts.len() {
            if current.is_self_issued() {
                return None;
            }
            let mut named = self
                .certificates()
                .filter(|(_, authority)| current.names(authority))
                .peekable();
            if named.peek().is_none() {
                return Some(PathProblem::MissingIssuer);
            }
            // A signature of another key is reported by its own rule.
            let (above, authority) = named
                .find(|(above, _)| self.verdict(facts, [at, *above]) == Some(Verdict::Good))?;
            let allowed = authority.max_authorities_below;
            if let Some(allowed) = allowed.filter(|allowed| usize::from(*allowed) < below) {
                return Some(PathProblem::TooLong { above, allowed });
            }
            at = above;
            current = authority;
        }
        None
    }

    /// Whether the second of two certificates signed the first one.
    fn verdict(&self, facts: &SiteFacts<'_>, places: [ItemPlace; 2]) -> Option<Verdict> {
        let [certificate, authority] = places.map(|at| self.certificate(at));
        let texts = places.map(|[text, item]| (self.texts[text].text.clone(), item));
        Some(facts.pem.verdict(texts, [certificate?, authority?]))
    }

    /// Each certificate with its authority: the one that the catalog declares, or else one of the name
    /// that it gives as its issuer.
    fn with_authorities(&self, facts: &SiteFacts<'_>) -> Vec<IssuedCertificate> {
        let issued = |(at, certificate): (ItemPlace, &Certificate)| {
            let declared = self.declared_authority(facts, at);
            let named = self.certificates().filter(|(authority, other)| {
                *authority != at && !certificate.is_self_issued() && certificate.names(other)
            });
            let authorities = match declared {
                Some(text) => self
                    .certificates()
                    .filter(|(it, _)| it[0] == text)
                    .collect(),
                None => named.collect::<Vec<_>>(),
            };
            let verdicts = authorities.iter().filter_map(|(authority, _)| {
                Some((self.verdict(facts, [at, *authority])?, *authority))
            });
            let best = verdicts.min_by_key(|(verdict, _)| *verdict);
            IssuedCertificate {
                at,
                verdict: best.map(|(verdict, _)| verdict),
                authority: best.map(|(_, at)| at),
            }
        };
        self.certificates().map(issued).collect()
    }

    /// String with the authority's certificate that the catalog declares for the first certificate of a
    /// document.
    fn declared_authority(&self, facts: &SiteFacts<'_>, at: ItemPlace) -> Option<usize> {
        let [text, item] = at;
        let (doc, _) = self.texts[text].uses.iter().find(|(doc, place)| {
            place.is_root() && facts.document(*doc).key.schema == CERTIFICATE[0].into()
        })?;
        let name = &facts.document(*doc).key.name;
        let authority = facts
            .site
            .catalog
            .authority_of(name)
            .filter(|_| item == 0)?;
        let authority = facts.site.output(AUTHORITY[0], authority)?;
        self.text_of(authority)
    }

    /// String that is all data of a document.
    fn text_of(&self, doc: DocId) -> Option<usize> {
        let is_data = |(of, place): &(DocId, Location)| *of == doc && place.is_root();
        self.texts.iter().position(|it| it.uses.iter().any(is_data))
    }

    /// Documents of a certificate and of a key with the same name.
    fn pairs_of_names(&self, facts: &SiteFacts<'_>) -> Vec<KeyPair> {
        let pair = |(text, of): (usize, &[&str; 2])| {
            let (doc, _) = self.texts[text].uses.iter().find(|(doc, place)| {
                place.is_root() && &*facts.document(*doc).key.schema == of[0]
            })?;
            let key = facts.site.output(of[1], &facts.document(*doc).key.name)?;
            let key = self.text_of(key)?;
            self.pair(self.first_certificate(text)?, self.first_key(key)?, None)
        };
        let texts = 0..self.texts.len();
        let both = texts.flat_map(|text| [&CERTIFICATE, &AUTHORITY].map(|of| (text, of)));
        both.filter_map(pair).collect()
    }

    /// A key and the certificates beside it: in the same mapping, which has no other key.
    fn pairs_beside(&self, doc: DocId, texts: &[(Location, usize)]) -> Vec<KeyPair> {
        let pair = |(place, text): &(Location, usize)| {
            let around = place.parent();
            let beside = texts.iter().filter(|(place, _)| place.parent() == around);
            let keys = beside
                .clone()
                .filter(|(_, it)| self.first_key(*it).is_some());
            let key = self.first_key(*text).filter(|_| keys.count() == 1)?;
            let ends = beside.filter_map(|(_, text)| {
                let at = self.first_certificate(*text)?;
                self.certificate(at).filter(|it| !it.is_authority)?;
                self.pair(at, key, Some((doc, place.clone())))
            });
            // The one that matches, if there is one.
            ends.max_by_key(|pair| pair.matches)
        };
        texts.iter().filter_map(pair).collect()
    }

    fn pair(
        &self,
        certificate: ItemPlace,
        key: ItemPlace,
        beside: Option<(DocId, Location)>,
    ) -> Option<KeyPair> {
        let matches = match self.item(key) {
            Item::Key(Some(key)) => Some(self.certificate(certificate)?.has_key(key)),
            Item::Key(None) | Item::EncryptedKey => None,
            Item::UnreadableKey | Item::Certificate(_) | Item::UnreadableCertificate => {
                return None;
            }
        };
        Some(KeyPair {
            certificate,
            key,
            beside,
            matches,
        })
    }

    fn first_certificate(&self, text: usize) -> Option<ItemPlace> {
        let mut items = self.texts[text].items.iter();
        let item = items.position(|(_, item)| matches!(item, Item::Certificate(_)))?;
        Some([text, item])
    }

    fn first_key(&self, text: usize) -> Option<ItemPlace> {
        let mut items = self.texts[text].items.iter();
        let is_key = |item: &Item| match item {
            Item::Key(_) | Item::UnreadableKey | Item::EncryptedKey => true,
            Item::Certificate(_) | Item::UnreadableCertificate => false,
        };
        let item = items.position(|(_, item)| is_key(item))?;
        Some([text, item])
    }

    /// The document that wrote it, or else one that contains it.
    pub(super) fn owner(&self, facts: &SiteFacts<'_>, at: ItemPlace) -> DocId {
        let text = &self.texts[at[0]];
        let (user, _) = text.uses.first().expect("a string is in a document");
        facts.site.document_at(text.at).unwrap_or(*user)
    }

    /// Name of a certificate or key: its document, and where it is there.
    pub(super) fn name(&self, facts: &SiteFacts<'_>, at: ItemPlace, what: &str) -> String {
        let text = &self.texts[at[0]];
        let owner = facts.name(self.owner(facts, at));
        let place = self.place(facts, at);
        let inside = place.map(|place| format!("in `{place}` "));
        let is_alike = |(_, item): &&(usize, Item)| {
            std::mem::discriminant(item) == std::mem::discriminant(self.item(at))
        };
        let count = |items: &[(usize, Item)]| items.iter().filter(is_alike).count();
        let number = if count(&text.items) > 1 {
            format!("{what} {}", count(&text.items[..=at[1]]))
        } else {
            format!("the {what}")
        };
        format!("{number} {}of `{owner}`", inside.unwrap_or_default())
    }

    /// Place in the document; `None` if it is all data, or must not be shown.
    fn place(&self, facts: &SiteFacts<'_>, at: ItemPlace) -> Option<String> {
        let owner = self.owner(facts, at);
        let uses = &self.texts[at[0]].uses;
        let own = uses.iter().find(|(doc, _)| *doc == owner);
        let (doc, place) = own.or(uses.first())?;
        let data = facts.rendered.data(*doc).filter(|_| !place.is_root())?;
        facts.shown_place(data, place)
    }

    /// Line at which it begins, or its string if that is secret.
    pub(super) fn line(&self, facts: &SiteFacts<'_>, at: ItemPlace) -> Span {
        let span = self.texts[at[0]].at;
        let text = facts.sources.slice(span);
        let mut starts = text.match_indices(BEGIN).filter(|_| !self.is_secret(at));
        let start = starts.nth(self.number(at));
        let start = start.map_or(span.start, |(start, _)| span.start + offset(start));
        facts.first_line(Span::new(span.file, start, span.end))
    }

    /// Finding at a certificate or key, with the documents that use it.
    pub(super) fn report(
        &self,
        facts: &SiteFacts<'_>,
        rule: &'static Rule,
        at: ItemPlace,
        (message, label): (String, &str),
    ) -> Diagnostic {
        let owner = self.owner(facts, at);
        let label = Label::new(self.line(facts, at), label);
        let number = (at[1] > 0).then(|| (at[1] + 1).to_string());
        let subject = self.place(facts, at).into_iter().chain(number);
        let mut finding = Diagnostic::new(rule, message, label)
            .about(subject.collect::<Vec<_>>().join(" "))
            .document(facts.document(owner).key.clone());
        let users = self.texts[at[0]].uses.iter();
        let users: Vec<_> = users.filter(|(doc, _)| *doc != owner).collect();
        for (index, (doc, place)) in users.iter().enumerate() {
            finding = finding.document(facts.document(*doc).key.clone());
            if index < MAX_USES {
                let name = facts.name(*doc);
                let shown = facts
                    .rendered
                    .data(*doc)
                    .and_then(|data| facts.shown_place(data, place));
                let shown = shown
                    .map(|place| format!("`{place}` of "))
                    .unwrap_or_default();
                let written = leftover_placeholder::brought(facts, *doc, place);
                let written = written.unwrap_or(facts.document(*doc).name_span);
                finding = finding.related(written, format!("used in {shown}`{name}`"));
            }
        }
        if users.len() > MAX_USES {
            finding = finding.note(format!("used in {} places", users.len()));
        }
        finding
    }
}

/// State of a certificate at the time of the check.
fn state(facts: &SiteFacts<'_>, certificate: &Certificate) -> CertificateState {
    let Some(time) = facts.settings.time else {
        return CertificateState::Undated;
    };
    if certificate.is_expired(time) {
        CertificateState::Expired
    } else if certificate.is_not_yet_valid(time) {
        CertificateState::NotYetValid
    } else if certificate.is_expired(time.plus_days(facts.settings.expiring_days)) {
        CertificateState::Expiring
    } else {
        CertificateState::Valid
    }
}

/// Whether documents of a schema are certificates.
fn is_certificate(schema: &str) -> bool {
    [CERTIFICATE[0], AUTHORITY[0]].contains(&schema)
}

/// Whether a string in it contains PEM. Almost no string has a word in capitals, as PEM has.
fn has_pem(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => text.contains(BEGIN),
        Value::Mapping(mapping) => mapping.size().has_capitals() && mapping.values().any(has_pem),
        Value::Sequence(items) => items.size().has_capitals() && items.iter().any(has_pem),
        Value::Pairs(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::Set(_) => false,
    }
}
