// SHA-256, of a text at once or of data that arrives in pieces.

export function sha256(text: string): Buffer {
  return Bun.CryptoHasher.hash('sha256', text)
}

export type Digest = { update(bytes: Uint8Array): void; hex(): string }

export function createDigest(): Digest {
  const hasher = new Bun.CryptoHasher('sha256')
  return { update: (bytes) => void hasher.update(bytes), hex: () => hasher.digest('hex') }
}
