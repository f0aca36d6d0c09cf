// A network address as it is counted: a keyed hash, which without the instance key names nobody.

/** The first 16 bytes of HMAC-SHA256(addresses subkey, address). */
export function hashAddress(address: string, addressesKey: Uint8Array): Buffer {
  return new Bun.CryptoHasher('sha256', addressesKey).update(address).digest().subarray(0, 16)
}
