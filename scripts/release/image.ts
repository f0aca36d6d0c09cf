// The image for containers: an OCI image layout in a tar archive, which Docker, Podman, containerd and skopeo
// load.

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Entry, tarOf } from './archive.ts'
import type { Architecture } from './parts.ts'

/** The user of the process, by the convention of images without a shell. */
const USER = 65532

const NAME = 'oncebox'
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip'
const CONFIG = 'application/vnd.oci.image.config.v1+json'
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const INDEX = 'application/vnd.oci.image.index.v1+json'

export type ImageContent = {
  architecture: Architecture
  version: string
  binary: Uint8Array
  /** The files of the C library. */
  library: readonly Entry[]
  licences: readonly { name: string; bytes: Uint8Array }[]
  /** The time of everything in it, in seconds. */
  time: number
}

/** Returns the archive: the same bytes for the same content. */
export async function imageOf(content: ImageContent): Promise<Uint8Array<ArrayBuffer>> {
  const { architecture, version, time } = content
  const tar = await tarOf(rootOf(content), time)
  const layer = blobOf(LAYER, await promisify(gzip)(tar, { level: 9 }))
  const config = jsonBlob(CONFIG, configOf({ architecture, version, time, layerDigest: digestOf(tar) }))
  const described = {
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: config.described,
    layers: [layer.described],
  }
  const manifest = jsonBlob(MANIFEST, described)
  const tags = [version, 'latest']
  const index = {
    schemaVersion: 2,
    mediaType: INDEX,
    manifests: tags.map((tag) => ({
      ...manifest.described,
      platform: { os: 'linux', architecture },
      annotations: {
        'io.containerd.image.name': `docker.io/library/${NAME}:${tag}`,
        'org.opencontainers.image.ref.name': tag,
      },
    })),
  }
  // Docker before version 25 reads this list instead of the index.
  const forDocker = [
    { Config: config.path, RepoTags: tags.map((tag) => `${NAME}:${tag}`), Layers: [layer.path] },
  ]
  return tarOf(
    [
      fileOf('oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' })),
      fileOf('index.json', JSON.stringify(index)),
      fileOf('manifest.json', JSON.stringify(forDocker)),
      ...['blobs/', 'blobs/sha256/'].map((path) => ({ path, mode: 0o755 })),
      ...[config, manifest, layer].map(({ path, bytes }) => ({ path, mode: 0o644, bytes })),
    ],
    time,
  )
}

/** Returns the root file system, without a shell, other programs or certificates: Bun has its own. */
function rootOf({ binary, library, licences }: ImageContent): Entry[] {
  const files = [
    fileOf('etc/group', `root:x:0:\n${NAME}:x:${USER}:\n`),
    fileOf('etc/nsswitch.conf', 'hosts: files dns\n'),
    fileOf('etc/passwd', `root:x:0:0:root:/:/\n${NAME}:x:${USER}:${USER}:Oncebox:/data:/\n`),
    ...library,
    { path: 'usr/bin/oncebox', mode: 0o755, bytes: binary },
    ...licences.map(({ name, bytes }) => ({ path: `usr/share/doc/${NAME}/${name}`, mode: 0o644, bytes })),
  ]
  const parents = new Set(files.flatMap(({ path }) => parentsOf(path)))
  return [
    ...[...parents].sort().map((path) => ({ path, mode: 0o755 })),
    { path: 'data/', mode: 0o700, owner: USER },
    { path: 'tmp/', mode: 0o1777 },
    ...files,
  ]
}

function parentsOf(path: string): string[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, index) => `${names.slice(0, index + 1).join('/')}/`)
}

type Configured = Pick<ImageContent, 'architecture' | 'version' | 'time'> & { layerDigest: string }

function configOf({ architecture, version, time, layerDigest }: Configured): object {
  const created = new Date(time * 1000).toISOString()
  const seconds = (count: number) => count * 1_000_000_000
  return {
    created,
    architecture,
    os: 'linux',
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: { '5100/tcp': {} },
      Env: ['PATH=/usr/bin', 'ONCEBOX_DATA_DIR=/data', 'ONCEBOX_HOST=0.0.0.0'],
      Entrypoint: ['/usr/bin/oncebox'],
      Cmd: ['serve'],
      Volumes: { '/data': {} },
      WorkingDir: '/data',
      StopSignal: 'SIGTERM',
      // Only Docker reads this. Other container runtimes have their own files, such as compose.yaml.
      Healthcheck: {
        Test: ['CMD', '/usr/bin/oncebox', 'health'],
        Interval: seconds(30),
        Timeout: seconds(10),
        StartPeriod: seconds(30),
        Retries: 3,
      },
      Labels: {
        'org.opencontainers.image.title': 'Oncebox',
        'org.opencontainers.image.description':
          'Shares passwords, files and links through secret links that expire.',
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.licenses': 'Apache-2.0',
      },
    },
    rootfs: { type: 'layers', diff_ids: [layerDigest] },
    history: [{ created, created_by: 'npm run release' }],
  }
}

function fileOf(path: string, text: string): Entry {
  return { path, mode: 0o644, bytes: Buffer.from(text) }
}

function jsonBlob(mediaType: string, value: object) {
  return blobOf(mediaType, Buffer.from(JSON.stringify(value)))
}

function blobOf(mediaType: string, bytes: Uint8Array) {
  const digest = digestOf(bytes)
  return {
    bytes,
    path: `blobs/${digest.replace(':', '/')}`,
    described: { mediaType, digest, size: bytes.length },
  }
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
