import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newKey } from '../../src/age/keys.ts'
import { type OpenOptions, openFile, openText, sealFile, sealText, Unopened } from '../../src/age/sealing.ts'
import { joined, piecesOf } from '../../src/age/streams.ts'
import { isArmouredAge } from '../../src/domain/age-armour.ts'
import { needs } from '../support/needs.ts'

const folder = mkdtempSync(join(tmpdir(), 'oncebox-age-'))
afterAll(() => rmSync(folder, { recursive: true }))

const key = await newKey()
const other = await newKey()
const withAge = needs('age')
const withZip = needs('age', 'zip', 'unzip')

async function* pieces(...all: readonly Uint8Array[]) {
  yield* all
}

async function seal(name: string, content: Uint8Array, position = { n: 1, of: 1 }): Promise<Uint8Array> {
  const file = { name, content: pieces(content), at: Date.UTC(2026, 0, 1), position }
  return joined(await Array.fromAsync(piecesOf(await sealFile(file, [key.recipient]))))
}

async function open(sealed: Uint8Array, options: Partial<OpenOptions> = {}) {
  const written: Uint8Array[] = []
  const opened = await openFile(pieces(sealed), {
    ...{ identities: [key.identity], maxBytes: 1e8, write: (bytes) => void written.push(bytes.slice()) },
    ...options,
  })
  return { ...opened, content: joined(written) }
}

function bytesOf(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => (at * 7 + (at >> 8)) & 0xff)
}

/** Runs a program in the folder. Returns its output. */
function run(command: string[], input: Uint8Array = new Uint8Array()): Buffer {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: folder, stdin: input })
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr}`)
  return stdout
}

const identityFile = join(folder, 'key.txt')
writeFileSync(identityFile, `${key.identity}\n`)

describe('a text', () => {
  test.each(['', 'secret', ' \ufeffzwei\r\nZeilen 🗝 ', 'x'.repeat(200_000)])(
    'comes back exactly',
    async (text) => {
      const sealed = await sealText(text, [key.recipient])
      expect(isArmouredAge(sealed)).toBe(true)
      expect(await openText(sealed, [key.identity])).toBe(text)
      expect(await openText(sealed.replaceAll('\n', '\r\n'), [other.identity, key.identity])).toBe(text)
    },
  )

  test('can be decrypted by each of several recipients and by nobody else', async () => {
    const sealed = await sealText('secret', [key.recipient, other.recipient])
    expect(await openText(sealed, [other.identity])).toBe('secret')
    const stranger = await newKey()
    await expect(openText(sealed, [stranger.identity])).rejects.toThrow('none of the keys opens it')
  })

  test.each([
    ['plaintext', 'secret'],
    [
      'an armour around plaintext',
      '-----BEGIN AGE ENCRYPTED FILE-----\nc2VjcmV0\n-----END AGE ENCRYPTED FILE-----\n',
    ],
    ['nothing', ''],
  ])('%s does not open', async (_, text) => {
    await expect(openText(text, [key.identity])).rejects.toBeInstanceOf(Unopened)
    expect(isArmouredAge(text)).toBe(false)
  })

  test('an encrypted file that is not UTF-8 is no text', async () => {
    const { armor, Encrypter } = await import('age-encryption')
    const encrypter = new Encrypter()
    encrypter.addRecipient(key.recipient)
    const sealed = armor.encode(await encrypter.encrypt(new Uint8Array([0xff, 0xfe])))
    await expect(openText(sealed, [key.identity])).rejects.toBeInstanceOf(Unopened)
  })

  withAge.test('is opened and sealed by the program age', async () => {
    const sealed = await sealText('to age 🗝\n', [key.recipient])
    expect(run(['age', '-d', '-i', identityFile], Buffer.from(sealed)).toString()).toBe('to age 🗝\n')
    const made = run(['age', '-r', key.recipient, '-a'], Buffer.from('from age'))
    expect(isArmouredAge(made.toString())).toBe(true)
    expect(await openText(made.toString(), [key.identity])).toBe('from age')
  })
})

describe('a file', () => {
  test.each([0, 1, 65_536, 3_000_000])('of %d bytes comes back exactly', async (size) => {
    const content = bytesOf(size)
    const opened = await open(await seal('Plan für Ä.pdf', content, { n: 2, of: 3 }))
    expect(opened).toMatchObject({ name: 'Plan für Ä.pdf', size, position: { n: 2, of: 3 } })
    expect(Buffer.compare(opened.content, content)).toBe(0)
  })

  test('reports its name before its content', async () => {
    const steps: string[] = []
    await open(await seal('a.bin', bytesOf(10)), {
      begin: (name) => void steps.push(name),
      write: ({ length }) => void steps.push(`${length} bytes`),
    })
    expect(steps).toEqual(['a.bin', '10 bytes'])
  })

  test('without a number says so', async () => {
    const file = { name: 'a', content: pieces(bytesOf(10)), at: 0, position: null }
    const sealed = joined(await Array.fromAsync(piecesOf(await sealFile(file, [key.recipient]))))
    expect((await open(sealed)).position).toBeNull()
  })

  test('does not open when it is cut anywhere', async () => {
    const sealed = await seal('a.bin', bytesOf(150_000))
    const ends = [0, 10, 21, 22, 100, 150, 200, 216, 232]
    const chunks = [1, 2].flatMap((n) => [0, 1, -1].map((by) => sealed.length - 150_000 + n * 65_552 + by))
    for (const end of [...ends, ...chunks, sealed.length - 1])
      await expect(open(sealed.subarray(0, end))).rejects.toBeInstanceOf(Unopened)
  })

  test('does not open when a byte has changed, or for another key', async () => {
    const sealed = await seal('a.bin', bytesOf(1000))
    for (const at of [30, 180, 220, sealed.length - 1]) {
      const changed = sealed.slice()
      changed[at] = (changed[at] ?? 0) ^ 1
      await expect(open(changed)).rejects.toBeInstanceOf(Unopened)
    }
    await expect(open(sealed, { identities: [other.identity] })).rejects.toThrow('none of the keys opens it')
  })

  test('that is larger than allowed is not written beyond the limit', async () => {
    const sealed = await seal('a.bin', bytesOf(3_000_000))
    let written = 0
    const write = (bytes: Uint8Array) => {
      written += bytes.length
    }
    await expect(open(sealed, { maxBytes: 2_999_999, write })).rejects.toBeInstanceOf(Unopened)
    expect(written).toBeLessThan(3_000_000)
  })

  test('failures to write and to read are passed on, not reported as damaged content', async () => {
    const sealed = await seal('a.bin', bytesOf(1000))
    const full = new Error('no space left')
    await expect(open(sealed, { write: () => Promise.reject(full) })).rejects.toBe(full)
    const cut = new Error('the connection broke')
    const broken = (async function* () {
      yield sealed.subarray(0, 300)
      throw cut
    })()
    const reading = openFile(broken, { identities: [key.identity], maxBytes: 1e8, write: () => undefined })
    await expect(reading).rejects.toBe(cut)
  })

  test('a header without an end is refused after 64 KiB', async () => {
    let read = 0
    const endless = (async function* () {
      yield Buffer.from('age-encryption.org/v1\n')
      for (;;) {
        read += 4096
        yield Buffer.alloc(4096, 'a')
      }
    })()
    const reading = openFile(endless, { identities: [key.identity], maxBytes: 1e8, write: () => undefined })
    await expect(reading).rejects.toBeInstanceOf(Unopened)
    expect(read).toBeLessThan(100_000)
  })

  withZip.test('is opened by age and unzip, with its comment', async () => {
    writeFileSync(
      join(folder, 'own.age'),
      await seal('eigene Datei.txt', Buffer.from('content'), { n: 1, of: 2 }),
    )
    run(['age', '-d', '-i', identityFile, '-o', 'own.zip', 'own.age'])
    run(['unzip', '-tq', 'own.zip'])
    expect(run(['unzip', '-p', 'own.zip']).toString()).toBe('content')
    expect(run(['unzip', '-z', 'own.zip']).toString()).toContain('1/2')
  })

  withZip.test('stored or deflated by zip and sealed by age opens', async () => {
    for (const level of ['-0', '-9']) {
      const content = Buffer.from('so many words '.repeat(300_000))
      writeFileSync(join(folder, 'words.txt'), content)
      rmSync(join(folder, 'words.zip'), { force: true })
      run(['zip', '-q', level, 'words.zip', 'words.txt'])
      const opened = await open(run(['age', '-r', key.recipient, 'words.zip']))
      expect(opened).toMatchObject({ name: 'words.txt', size: content.length, position: null })
      expect(Buffer.compare(opened.content, content)).toBe(0)
    }
  })

  withZip.test('deflated through a pipe opens, and a bomb is stopped at the limit', async () => {
    const zeros = Buffer.alloc(50_000_000)
    const zip = run(['zip', '-q', '-9', '-', '-'], zeros)
    const sealed = run(['age', '-r', key.recipient], zip)
    expect((await open(sealed)).size).toBe(zeros.length)
    await expect(open(sealed, { maxBytes: 1_000_000 })).rejects.toBeInstanceOf(Unopened)
  })

  withZip.test('a ZIP of two files, of none, or with junk around it does not open', async () => {
    writeFileSync(join(folder, 'a.txt'), 'a')
    writeFileSync(join(folder, 'b.txt'), 'b')
    run(['zip', '-q', 'two.zip', 'a.txt', 'b.txt'])
    run(['zip', '-q', 'one.zip', 'a.txt'])
    const one = readFileSync(join(folder, 'one.zip'))
    const damaged = Buffer.from(one)
    damaged.writeUInt32LE(1, 14)
    damaged[30 + 5 + damaged.readUInt16LE(28)] = 'z'.charCodeAt(0)
    const wrong = {
      two: readFileSync(join(folder, 'two.zip')),
      none: Buffer.from(`504b0506${'00'.repeat(18)}`, 'hex'),
      before: Buffer.concat([Buffer.from('x'), one]),
      after: Buffer.concat([one, Buffer.from('x')]),
      empty: Buffer.alloc(0),
      text: Buffer.from('just a text, which is longer than the header of a ZIP'),
      damaged,
    }
    expect((await open(run(['age', '-r', key.recipient], one))).name).toBe('a.txt')
    for (const [name, zip] of Object.entries(wrong)) {
      const result = open(run(['age', '-r', key.recipient], zip)).then(
        () => `${name} opened`,
        (cause) => cause instanceof Unopened,
      )
      expect(await result).toBe(true)
    }
  })
})
