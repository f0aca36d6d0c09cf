import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { extract } from 'tar-stream'
import { imageOf } from '../../scripts/release/image.ts'

const CONTENT = {
  architecture: 'arm64',
  version: '3.1.0',
  revision: '0123abc',
  binary: Buffer.from('an executable'),
  library: [{ path: 'lib/aarch64-linux-gnu/libc.so.6', mode: 0o755, bytes: Buffer.from('a library') }],
  licences: [{ name: 'LICENSE', bytes: Buffer.from('a licence') }],
  time: 1_700_000_000,
} as const

type Found = { mode: number | undefined; uid: number | undefined; time: number; bytes: Buffer }

async function filesIn(tar: Uint8Array): Promise<Map<string, Found>> {
  const files = new Map<string, Found>()
  const reading = extract()
  reading.end(Buffer.from(tar))
  for await (const entry of reading) {
    const pieces: Buffer[] = []
    for await (const piece of entry) if (Buffer.isBuffer(piece)) pieces.push(piece)
    const { name, mode, uid, mtime } = entry.header
    files.set(name, { mode, uid, time: (mtime?.getTime() ?? 0) / 1000, bytes: Buffer.concat(pieces) })
  }
  return files
}

const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

async function unpackedImage() {
  const files = await filesIn(await imageOf([CONTENT]))
  const bytesOf = (path: string) => files.get(path)?.bytes ?? Buffer.alloc(0)
  const blob = ({ digest, size }: { digest: string; size: number }) => {
    const bytes = bytesOf(`blobs/${digest.replace(':', '/')}`)
    expect(sha256(bytes)).toBe(digest)
    expect(bytes.length).toBe(size)
    return bytes
  }
  const index = JSON.parse(bytesOf('index.json').toString())
  const manifest = JSON.parse(blob(index.manifests[0]).toString())
  const config = JSON.parse(blob(manifest.config).toString())
  const layer = gunzipSync(blob(manifest.layers[0]))
  return { files, index, manifest, config, layer }
}

test('every part of the image is found by its digest, from the index down to the layer', async () => {
  const { files, index, config, layer } = await unpackedImage()
  expect(JSON.parse(files.get('oci-layout')?.bytes.toString() ?? '')).toEqual({ imageLayoutVersion: '1.0.0' })
  expect(index.manifests[0].platform).toEqual({ os: 'linux', architecture: 'arm64' })
  expect(config.rootfs.diff_ids).toEqual([sha256(layer)])
})

test('older versions of Docker find the same parts', async () => {
  const { files, manifest } = await unpackedImage()
  const [image] = JSON.parse(files.get('manifest.json')?.bytes.toString() ?? '')
  expect(image.RepoTags).toEqual(['oncebox:3.1.0', 'oncebox:latest'])
  expect(image.Config).toBe(`blobs/${manifest.config.digest.replace(':', '/')}`)
  expect(image.Layers).toEqual([`blobs/${manifest.layers[0].digest.replace(':', '/')}`])
})

test('the image runs as an unprivileged user, keeps its data in a volume, and has a health check', async () => {
  const { architecture, config } = (await unpackedImage()).config
  expect(architecture).toBe('arm64')
  expect(config).toMatchObject({
    User: '65532:65532',
    Volumes: { '/data': {} },
    ExposedPorts: { '5100/tcp': {} },
    Entrypoint: ['/usr/bin/oncebox'],
    Healthcheck: { Test: ['CMD', '/usr/bin/oncebox', 'health'] },
  })
})

test('its root contains the executable, its library, and a data folder that only that user can access', async () => {
  const root = await filesIn((await unpackedImage()).layer)
  expect([...root.keys()].filter((path) => !path.startsWith('etc/') && !path.startsWith('lib/'))).toEqual([
    ...['usr/', 'usr/bin/', 'usr/share/', 'usr/share/doc/', 'usr/share/doc/oncebox/', 'data/', 'tmp/'],
    ...['usr/bin/oncebox', 'usr/share/doc/oncebox/LICENSE'],
  ])
  expect(root.get('data/')).toMatchObject({ mode: 0o700, uid: 65532 })
  expect(root.get('usr/bin/oncebox')).toMatchObject({ mode: 0o755, uid: 0 })
  expect(new Set([...root.values()].map(({ time }) => time))).toEqual(new Set([CONTENT.time]))
})

test('the same content gives the same bytes', async () => {
  expect(sha256(await imageOf([CONTENT]))).toBe(sha256(await imageOf([CONTENT])))
})

test('images of several processors become a single entry, whose index leads to each', async () => {
  const files = await filesIn(await imageOf([{ ...CONTENT, architecture: 'amd64' }, CONTENT]))
  const read = (path: string) => JSON.parse(files.get(path)?.bytes.toString() ?? '')
  const blob = (digest: string) => read(`blobs/${digest.replace(':', '/')}`)
  const [entry, ...others] = read('index.json').manifests
  expect(others).toEqual([])
  const { manifests } = blob(entry.digest)
  const configs = manifests.map(({ digest }: { digest: string }) => blob(blob(digest).config.digest))
  expect(configs.map(({ architecture }: { architecture: string }) => architecture)).toEqual([
    'amd64',
    'arm64',
  ])
  expect(read('manifest.json')).toHaveLength(1)
})
