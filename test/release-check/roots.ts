// Root file systems in which to start a release: an empty one for dpkg, and that of an image.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Makes a root with a shell for package scripts, the libraries of this machine, and a user's home folder.
 */
export function makeRoot(root: string): void {
  for (const folder of ['var/lib/dpkg/info', 'var/lib/dpkg/updates', 'etc', 'tmp', 'usr/bin', 'dev'])
    mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, 'var/lib/dpkg/status'), '')
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n')
  run(['install', '-d', '-m', '700', '-o', '1000', '-g', '1000', join(root, 'home/ann')])
  const libraries = run(['ldd', process.execPath, '/bin/sh']).match(/\/\S+\.so\S*/g) ?? []
  for (const path of ['/bin/sh', ...libraries]) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    cpSync(path, join(root, path), { dereference: true })
  }
  mountSystem(root)
}

type Configured = {
  Entrypoint: string[]
  Cmd: string[]
  Env: string[]
  User: string
  Healthcheck: { Test: string[] }
}

/**
 * Unpacks the layers with their owners, and makes all but /data and /tmp read-only. Returns the image's entry
 * point and user.
 */
export function unpackImage(archive: string, root: string): Configured {
  const parts = `${root}.parts`
  mkdirSync(parts, { recursive: true })
  run(['tar', '-xf', archive, '-C', parts])
  const blob = ({ digest }: { digest: string }) => join(parts, 'blobs', digest.replace(':', '/'))
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
  const manifest = read(blob(read(join(parts, 'index.json')).manifests[0]))
  for (const layer of manifest.layers) run(['tar', '-xzf', blob(layer), '-C', root])
  for (const path of ['data', 'tmp']) run(['cp', '-a', join(root, path), join(parts, path)])
  mount(['--bind', root], root)
  mountSystem(root)
  for (const path of ['data', 'tmp']) mount(['--bind', join(parts, path)], join(root, path))
  run(['mount', '-o', 'remount,bind,ro', root])
  return read(blob(manifest.config)).config
}

const mounted: string[] = []

/** The executable finds itself by /proc, and its child processes read /dev/null, as in a container. */
function mountSystem(root: string): void {
  const path = join(root, 'proc')
  mkdirSync(path, { recursive: true })
  mount(['-t', 'proc', 'proc'], path)
  mkdirSync(join(root, 'dev'), { recursive: true })
  writeFileSync(join(root, 'dev/null'), '')
  mount(['--bind', '/dev/null'], join(root, 'dev/null'))
}

function mount(what: readonly string[], path: string): void {
  run(['mount', ...what, path])
  mounted.push(path)
}

/** Unmounts before the folders are removed. */
export function unmountAll(): void {
  for (const path of mounted.splice(0).reverse()) run(['umount', path])
}

function run(command: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command])
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr}`)
  return stdout.toString()
}
