// The image of both processors, as skopeo and a registry read it.

import { afterAll, beforeAll, expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BOTH_IMAGES } from '../../../scripts/release/parts.ts'
import { freePort } from '../../support/free-port.ts'
import { needs } from '../../support/needs.ts'
import { makeSmallRelease, type SmallRelease } from '../../support/small-release.ts'
import { waitUntil } from '../../support/waiting.ts'

const WORK = mkdtempSync(join(tmpdir(), 'oncebox-images-'))
let release: SmallRelease

beforeAll(async () => {
  release = await makeSmallRelease(join(WORK, 'release'), { key: null, kinds: ['image'] })
})

afterAll(() => rmSync(WORK, { recursive: true, force: true }))

/** Returns what skopeo prints. Throws when it fails. */
async function skopeo(...words: string[]): Promise<string> {
  const child = Bun.spawn(['skopeo', '--tmpdir', WORK, '--insecure-policy', ...words], {
    env: { ...process.env, HOME: WORK },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`skopeo ${words.join(' ')}: ${stderr}`)
  return stdout
}

type Configured = {
  architecture: string
  config: { User: string; Healthcheck: object; Labels: Record<string, string> }
}

/** Returns the configuration as it was written, including members that only Docker uses. */
async function configOf(archive: string, architecture = 'amd64'): Promise<Configured> {
  return JSON.parse(await skopeo('--override-arch', architecture, 'inspect', '--config', '--raw', archive))
}

needs('skopeo').test(
  'skopeo finds an image for each processor in the archive, without being told a tag',
  async () => {
    const archive = `oci-archive:${release.pathOf(BOTH_IMAGES)}`
    const { manifests } = JSON.parse(await skopeo('inspect', '--raw', archive))
    expect(manifests.map(({ platform }: { platform: object }) => platform)).toEqual([
      { os: 'linux', architecture: 'amd64' },
      { os: 'linux', architecture: 'arm64' },
    ])
    for (const architecture of ['amd64', 'arm64']) {
      const found = await configOf(archive, architecture)
      expect(found.architecture).toBe(architecture)
      expect(found.config.User).toBe('65532:65532')
      expect(found.config.Labels).toMatchObject({
        'org.opencontainers.image.title': 'Oncebox',
        'org.opencontainers.image.version': '3.1.0',
        'org.opencontainers.image.revision': 'c0ffee',
        'org.opencontainers.image.licenses': 'Apache-2.0',
      })
    }
  },
)

needs('skopeo').test(
  'the list that older versions of Docker load names the image, with its health check',
  async () => {
    const archives = [BOTH_IMAGES, 'image-arm64'].map((part) => `docker-archive:${release.pathOf(part)}`)
    const [both, arm] = await Promise.all(archives.map((archive) => configOf(archive)))
    expect([both?.architecture, arm?.architecture]).toEqual(['amd64', 'arm64'])
    expect(both?.config.Healthcheck).toMatchObject({ Test: ['CMD', '/usr/bin/oncebox', 'health'] })
  },
)

needs('skopeo', 'docker-registry').test(
  'a registry takes the image, and gives each processor its own',
  async () => {
    const port = freePort()
    const settings = join(WORK, 'registry.yml')
    const lines = [
      'version: 0.1',
      `storage: {filesystem: {rootdirectory: ${join(WORK, 'registry')}}}`,
      `http: {addr: "127.0.0.1:${port}"}`,
    ]
    writeFileSync(settings, lines.join('\n'))
    const registry = Bun.spawn(['docker-registry', 'serve', settings], {
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    try {
      await waitUntil(() =>
        fetch(`http://127.0.0.1:${port}/v2/`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      const target = `docker://127.0.0.1:${port}/oncebox:3.1.0`
      const archive = `oci-archive:${release.pathOf(BOTH_IMAGES)}`
      await skopeo('copy', '--all', '--dest-tls-verify=false', archive, target)
      const stored = async (architecture: string) =>
        JSON.parse(
          await skopeo('--override-arch', architecture, 'inspect', '--config', '--tls-verify=false', target),
        ).architecture
      expect([await stored('amd64'), await stored('arm64')]).toEqual(['amd64', 'arm64'])
    } finally {
      registry.kill()
      await registry.exited
    }
  },
)
