//! Classification of addresses as public or not.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks that are not part of the public internet, or that lead to another address.
const REFUSED_V4: &[(Ipv4Addr, u32)] = &[
    // This network.
    (Ipv4Addr::UNSPECIFIED, 8),
    // Private.
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Carrier-grade NAT.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    // Loopback.
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link-local, with the metadata services of most clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    // The metadata service of Azure.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    // Protocol assignments, with the metadata service of Oracle.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation.
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Relays of 6to4.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    // Benchmarks.
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    // Multicast.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    // Reserved, with the broadcast address.
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// The public part of IPv6. Outside of it are the unspecified address and loopback, IPv4 embedded in IPv6 (mapped,
/// compatible, NAT64), discard, unique local, link-local, site-local and multicast.
const PUBLIC_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Networks within it that are not public.
const REFUSED_V6: &[(Ipv6Addr, u32)] = &[
    // Protocol assignments: Teredo, benchmarks, ORCHID.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    // Documentation.
    (Ipv6Addr::new(0x2001, 0x0db8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
    // 6to4.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
];

fn in_v4(address: Ipv4Addr, (network, bits): (Ipv4Addr, u32)) -> bool {
    (address.to_bits() ^ network.to_bits()).leading_zeros() >= bits
}

fn in_v6(address: Ipv6Addr, (network, bits): (Ipv6Addr, u32)) -> bool {
    (address.to_bits() ^ network.to_bits()).leading_zeros() >= bits
}

/// Metadata services of clouds, which hand out the machine's credentials.
const METADATA_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(192, 0, 0, 192), 32),
    (Ipv4Addr::new(100, 100, 100, 200), 32),
];
const METADATA_V6: &[(Ipv6Addr, u32)] = &[
    // Link-local.
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10),
    // Amazon and Google.
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128),
];

/// IPv6 networks whose addresses embed an IPv4 address, and the possible numbers of bits before it.
const EMBEDDED_V4: &[((Ipv6Addr, u32), &[u32])] = &[
    // IPv4-compatible, IPv4-mapped, IPv4-translated.
    ((Ipv6Addr::UNSPECIFIED, 96), &[96]),
    ((Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96), &[96]),
    ((Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96), &[96]),
    // NAT64; in the networks for local use, the operator chooses the length of the prefix.
    ((Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96), &[96]),
    ((Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48), &[48, 56, 64, 96]),
    // 6to4.
    ((Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), &[16]),
    // Teredo: the server; its client is handled below.
    ((Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32), &[32]),
];

/// The octet that a prefix of NAT64 shorter than 96 bits leaves out (RFC 6052).
const UNUSED_OCTET: u32 = 64;

/// Extracts the IPv4 address after this many bits.
fn embedded(address: Ipv6Addr, bits: u32) -> Ipv4Addr {
    let mut bytes = address.octets().to_vec();
    let is_interrupted = (UNUSED_OCTET - 24..=UNUSED_OCTET).contains(&bits);
    if is_interrupted {
        bytes.remove(8);
    }
    let start = usize::try_from(bits / 8).unwrap_or_default();
    let part = bytes.get(start..start + 4).and_then(|part| <[u8; 4]>::try_from(part).ok());
    part.map_or(Ipv4Addr::UNSPECIFIED, Ipv4Addr::from)
}

/// Every IPv4 address that an IPv6 address may embed.
fn behind(address: Ipv6Addr) -> impl Iterator<Item = Ipv4Addr> {
    let networks = EMBEDDED_V4.iter().filter(move |(network, _)| in_v6(address, *network));
    let embedded =
        networks.flat_map(move |(_, places)| places.iter().map(move |bits| embedded(address, *bits)));
    // A Teredo client is stored with all bits inverted; ISATAP is recognized by the middle of the address.
    let last =
        Ipv4Addr::from_bits(u32::try_from(address.to_bits() & u128::from(u32::MAX)).unwrap_or_default());
    let teredo = (address.segments()[..2] == [0x2001, 0]).then(|| Ipv4Addr::from_bits(!last.to_bits()));
    let isatap = (address.segments()[4] & !0x200 == 0 && address.segments()[5] == 0x5efe).then_some(last);
    embedded.chain(teredo).chain(isatap)
}

/// Returns true for link-local addresses and metadata services, in every notation: always denied to scripts, even if
/// the operator allows private networks.
pub(crate) fn is_metadata(address: IpAddr) -> bool {
    let is_refused = |address: Ipv4Addr| METADATA_V4.iter().any(|network| in_v4(address, *network));
    match address {
        IpAddr::V4(address) => is_refused(address),
        IpAddr::V6(address) => {
            METADATA_V6.iter().any(|network| in_v6(address, *network)) || behind(address).any(is_refused)
        }
    }
}

pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !REFUSED_V4.iter().any(|network| in_v4(address, *network)),
        IpAddr::V6(address) => {
            in_v6(address, PUBLIC_V6) && !REFUSED_V6.iter().any(|network| in_v6(address, *network))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_services_are_known_in_every_spelling() {
        for address in [
            "169.254.169.254",
            "169.254.0.23",
            "168.63.129.16",
            "192.0.0.192",
            "100.100.100.200",
            "fd00:ec2::254",
            "fd20:ce::254",
            "fe80::1",
            "fe80::a9fe:a9fe",
            "febf:ffff::1",
            "::169.254.169.254",
            "::ffff:169.254.169.254",
            "::ffff:0:169.254.169.254",
            "64:ff9b::169.254.169.254",
            "64:ff9b::168.63.129.16",
            "64:ff9b:1::169.254.169.254",
            "64:ff9b:1:a9fe:a9:fe00::",
            "64:ff9b:1:0:a9:fea9:fe00:0",
            "64:ff9b:1:a9:fe:a9fe::",
            "2002:a9fe:a9fe::1",
            "2002:a83f:8110::",
            "2001:0:a9fe:a9fe::",
            "2001:0:808:808::5601:5601",
            "2001:db8::5efe:169.254.169.254",
            "2001:db8::200:5efe:169.254.169.254",
        ] {
            assert!(is_metadata(address.parse().unwrap()), "{address}");
        }
        for address in [
            "127.0.0.1",
            "10.0.0.1",
            "192.0.0.1",
            "8.8.8.8",
            "::1",
            "::ffff:10.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1:a00:0:100::",
            "2002:a00:1::1",
            "fd00:ec2::253",
            "fd00::1",
            "fec0::1",
            "2001:db8::a9fe:a9fe",
        ] {
            assert!(!is_metadata(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn private_and_reserved_addresses_are_not_public() {
        for address in [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.0.0.7",
            "10.255.255.255",
            "100.64.0.0",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "168.63.129.16",
            "169.254.0.0",
            "169.254.169.254",
            "169.254.255.255",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.0",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.0",
            "192.168.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.0",
            "255.255.255.255",
            // Unspecified, loopback, IPv4-compatible, IPv4-mapped and IPv4-translated.
            "::",
            "::1",
            "::7f00:1",
            "::808:808",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:8.8.8.8",
            // NAT64.
            "64:ff9b::8.8.8.8",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::",
            "64:ff9b:1:ffff::1",
            // Discard.
            "100::",
            "100::1",
            "100:0:0:1::1",
            // Teredo, benchmarks, ORCHID, documentation, 6to4.
            "2001::",
            "2001:0:808:808::",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:2f:ffff::",
            "2001:db8::1",
            "2001:db8:ffff::1",
            "3fff::1",
            "3fff:fff::1",
            "2002::",
            "2002:7f00:1::1",
            // Segment routing, unique local, metadata, link-local, site-local, multicast.
            "5f00::1",
            "fc00::1",
            "fd00::1",
            "fd00:ec2::254",
            "fdff:ffff::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "feff::1",
            "ff02::1",
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            // Unassigned.
            "1::1",
            "4000::1",
            "8000::1",
            "e000::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn the_neighbours_of_those_are_public() {
        for address in [
            "1.0.0.0",
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "2000::1",
            "2001:200::1",
            "2001:db7::1",
            "2001:db9::1",
            "2001:4860:4860::8888",
            "2003::1",
            "2606:4700:4700::1111",
            "3ffe::1",
            "3fff:1000::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
