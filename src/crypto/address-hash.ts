// A network address as it is stored for counting: a keyed hash, which reveals nothing without the instance key.

/** The first 16 bytes of HMAC-SHA256(addresses subkey, address). */
export function hashAddress(address: string, addressesKey: Uint8Array): Buffer {
  return new Bun.CryptoHasher('sha256', addressesKey).update(address).digest().subarray(0, 16)
}
