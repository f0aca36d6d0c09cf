// SHA-256 of what arrives piece by piece.

export type Digest = { update(bytes: Uint8Array): void; hex(): string }

export function createDigest(): Digest {
  const hasher = new Bun.CryptoHasher('sha256')
  return { update: (bytes) => void hasher.update(bytes), hex: () => hasher.digest('hex') }
}
