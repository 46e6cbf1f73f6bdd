//! Who asks, taken from a request.

use core::fmt;
use core::marker::PhantomData;
use core::net::IpAddr;

use http::Extensions;

use super::seen::Seen;
use crate::http::ClientAddress;
use crate::identity::{Address, Identity};

/// Takes an identity from a request, or finds that it has none.
///
/// A closure `|seen: &Seen<'_>| -> Option<Account>` is one. None is no identity of its own: what happens then is said when
/// the layer is built.
pub trait Extract: Send + Sync + 'static {
    /// Of this kind.
    type Identity: Identity;

    /// Shows the identity, or that there is none, to `look`.
    fn with<T>(&self, seen: &Seen<'_>, look: impl FnOnce(Option<&Self::Identity>) -> T) -> T;
}

impl<F, I> Extract for F
where
    F: Fn(&Seen<'_>) -> Option<I> + Send + Sync + 'static,
    I: Identity,
{
    type Identity = I;

    fn with<T>(&self, seen: &Seen<'_>, look: impl FnOnce(Option<&I>) -> T) -> T {
        look(self(seen).as_ref())
    }
}

/// The identity that a layer before has put into the request's extensions: of authentication, most often.
pub struct FromExtension<I>(PhantomData<fn() -> I>);

/// Takes the identity of this type from the request's extensions.
///
/// ```
/// use admittance::identity::Account;
/// use admittance::tower::{Extract, Seen, from_extension};
///
/// let mut request = http::Request::new(());
/// request.extensions_mut().insert(Account::new("ann".to_owned())?);
/// let account = from_extension::<Account>();
/// assert!(account.with(&Seen::of(&request), |who| who.is_some()));
/// # Ok::<(), admittance::identity::EmptyIdentity>(())
/// ```
#[must_use]
pub const fn from_extension<I: Identity + Send + Sync + 'static>() -> FromExtension<I> {
    FromExtension(PhantomData)
}

impl<I: Identity + Send + Sync + 'static> Extract for FromExtension<I> {
    type Identity = I;

    fn with<T>(&self, seen: &Seen<'_>, look: impl FnOnce(Option<&I>) -> T) -> T {
        look(seen.extensions().get())
    }
}

impl<I> fmt::Debug for FromExtension<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FromExtension")
    }
}

/// The client's address, by the socket's peer and, where that is trusted, by what proxies say.
#[derive(Debug)]
pub struct FromPeer<P> {
    client: ClientAddress,
    peer: P,
}

/// Takes the client's address: the peer is what `peer` finds in the request's extensions, where the server has put it, and
/// `client` says which header fields are believed of whom.
///
/// With axum, which is served by `into_make_service_with_connect_info::<SocketAddr>()`:
///
/// ```
/// use core::net::SocketAddr;
/// use admittance::http::ClientAddress;
/// # use axum::extract::ConnectInfo;
///
/// let address = admittance::tower::from_peer(ClientAddress::peer(), |extensions| {
///     extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip())
/// });
/// ```
///
/// Where there is no peer there is no address, whatever the header fields say.
#[must_use]
pub const fn from_peer<P>(client: ClientAddress, peer: P) -> FromPeer<P>
where
    P: Fn(&Extensions) -> Option<IpAddr> + Send + Sync + 'static,
{
    FromPeer { client, peer }
}

impl<P> Extract for FromPeer<P>
where
    P: Fn(&Extensions) -> Option<IpAddr> + Send + Sync + 'static,
{
    type Identity = Address;

    fn with<T>(&self, seen: &Seen<'_>, look: impl FnOnce(Option<&Address>) -> T) -> T {
        let address = (self.peer)(seen.extensions()).map(|peer| self.client.address(peer, seen.headers()));
        look(address.as_ref())
    }
}
