// SHA-256 of a text or of data that arrives in pieces, and its keyed form.

export function sha256(text: string): Buffer {
  return Bun.CryptoHasher.hash('sha256', text)
}

export function createDigest(): Bun.CryptoHasher {
  return new Bun.CryptoHasher('sha256')
}

/** HMAC-SHA256; twice as fast as createHmac of node:crypto. */
export function hmac(key: Uint8Array | string, text: string): Buffer {
  return new Bun.CryptoHasher('sha256', key).update(text).digest()
}

/**
 * Returns the digest under which an address is counted: the first 16 bytes of HMAC-SHA256(addresses subkey,
 * address). Without the instance key it reveals nothing.
 */
export function hashAddress(address: string, addressesKey: Uint8Array): Buffer {
  return halfOf(hmac(addressesKey, address))
}

/**
 * Returns the first 16 bytes of a digest. Copies them one by one, because creating a view first moves the
 * bytes out of the engine's heap, which takes four times as long.
 */
export function halfOf(digest: Buffer): Buffer {
  const half = Buffer.alloc(16)
  for (let at = 0; at < half.length; at += 1) half[at] = digest[at] ?? 0
  return half
}
