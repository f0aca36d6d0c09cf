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
  /** The commit; null outside a git repository. */
  revision: string | null
  binary: Uint8Array
  /** The files of the C library. */
  library: readonly Entry[]
  licences: readonly { name: string; bytes: Uint8Array }[]
  /** The modification time of every entry, in seconds. */
  time: number
}

/**
 * Returns the archive of an image, reproducibly. Several contents, one for each processor, become one image
 * with an index, so that a registry has it under one name.
 */
export async function imageOf(contents: readonly ImageContent[]): Promise<Uint8Array<ArrayBuffer>> {
  const images: Image[] = []
  for (const content of contents) images.push(await buildImage(content))
  const [first, ...others] = images
  if (first === undefined) throw new Error('an image needs a content')
  const manifests = images.map(({ manifest, platform }) => ({ ...manifest.described, platform }))
  const both = others.length === 0 ? null : jsonBlob(INDEX, indexOf(manifests))
  const tags = [first.version, 'latest']
  // skopeo copies an archive without a tag only if it has a single entry.
  const entries =
    both === null
      ? tags.flatMap((tag) => manifests.map((manifest) => named(manifest, tag)))
      : [named(both.described, 'latest')]
  // Docker before version 25, and later ones without containerd's store, read this list instead of the index.
  // It cannot name an image for each processor, so they load the first.
  const forDocker = [
    {
      Config: first.config.path,
      RepoTags: tags.map((tag) => `${NAME}:${tag}`),
      Layers: [first.layer.path],
    },
  ]
  const blobs = [
    ...images.flatMap(({ config, manifest, layer }) => [config, manifest, layer]),
    ...(both === null ? [] : [both]),
  ]
  return tarOf(
    [
      fileOf('oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' })),
      fileOf('index.json', JSON.stringify(indexOf(entries))),
      fileOf('manifest.json', JSON.stringify(forDocker)),
      ...['blobs/', 'blobs/sha256/'].map((path) => ({ path, mode: 0o755 })),
      ...blobs.map(({ path, bytes }) => ({ path, mode: 0o644, bytes })),
    ],
    first.time,
  )
}

type Image = Awaited<ReturnType<typeof buildImage>>

async function buildImage(content: ImageContent) {
  const { architecture, version, time } = content
  const tar = await tarOf(rootOf(content), time)
  const layer = blobOf(LAYER, await promisify(gzip)(tar, { level: 9 }))
  const config = jsonBlob(CONFIG, configOf({ ...content, layerDigest: digestOf(tar) }))
  const described = {
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: config.described,
    layers: [layer.described],
  }
  const manifest = jsonBlob(MANIFEST, described)
  return { version, time, platform: { os: 'linux', architecture }, layer, config, manifest }
}

function indexOf(manifests: readonly object[]): object {
  return { schemaVersion: 2, mediaType: INDEX, manifests }
}

function named(described: object, tag: string): object {
  const annotations = {
    'io.containerd.image.name': `docker.io/library/${NAME}:${tag}`,
    'org.opencontainers.image.ref.name': tag,
  }
  return { ...described, annotations }
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

type Configured = Pick<ImageContent, 'architecture' | 'version' | 'revision' | 'time'> & {
  layerDigest: string
}

function configOf({ architecture, version, revision, time, layerDigest }: Configured): object {
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
        'org.opencontainers.image.created': created,
        'org.opencontainers.image.licenses': 'Apache-2.0',
        'org.opencontainers.image.vendor': 'The Oncebox project',
        ...(revision === null ? {} : { 'org.opencontainers.image.revision': revision }),
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
