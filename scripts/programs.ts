// The programs that tests start beside Bun, and the Debian packages that have them.

import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The packages of each program, or null if installing a package is not enough, as for a system booted by
 * systemd.
 */
export const PACKAGES = {
  age: 'age',
  'ansible-lint': 'ansible-lint',
  'ansible-playbook': 'ansible-core',
  'apt-get': 'apt',
  bash: 'bash',
  cc: 'gcc libc6-dev',
  certutil: 'libnss3-tools',
  chromium: 'chromium-headless-shell',
  cp: 'coreutils',
  cpio: 'cpio',
  curl: 'curl',
  dd: 'coreutils',
  'desktop-file-validate': 'desktop-file-utils',
  'docker-registry': 'docker-registry',
  'dpkg-deb': 'dpkg',
  fish: 'fish',
  gpgv: 'gpgv',
  mariadb: 'mariadb-server',
  mkfifo: 'coreutils',
  mount: 'mount',
  nginx: 'nginx-light',
  postgres: 'postgresql',
  python3: 'python3',
  rpmbuild: 'rpm',
  rsync: 'rsync',
  ruby: 'ruby',
  setpriv: 'util-linux',
  sh: 'dash',
  skopeo: 'skopeo',
  sqlite3: 'sqlite3',
  strace: 'strace',
  systemctl: null,
  'systemd-analyze': null,
  tar: 'tar',
  unshare: 'util-linux',
  unzip: 'unzip',
  xclip: 'xclip',
  xsel: 'xsel',
  Xvfb: 'xvfb',
  zip: 'zip',
  zsh: 'zsh',
} as const satisfies Record<string, string | null>

/** Programs that only tests of `npm run test:slow` start: `.ci/run` does not install them. */
export const SLOW_ONLY: readonly Program[] = [
  'ansible-lint',
  'ansible-playbook',
  'cpio',
  'docker-registry',
  'rpmbuild',
  'ruby',
  'skopeo',
]

export type Program = keyof typeof PACKAGES

/**
 * The headless shell takes less than half of a complete browser's CPU time, but older releases of Debian lack
 * it.
 */
export const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

export function isInstalled(program: Program): boolean {
  switch (program) {
    case 'chromium':
      return findBrowser() !== null
    case 'cc':
      return findCompiler() !== null
    case 'postgres':
      return findPostgres() !== null && ['setpriv', 'id', 'sh'].every(isThere)
    case 'mariadb':
      return findMariadb() !== null && ['setpriv', 'id', 'sh'].every(isThere)
    default:
      return isThere(program)
  }
}

const isThere = (name: string) => Bun.which(name) !== null

export function findBrowser(): string | null {
  return BROWSERS.map((name) => Bun.which(name)).find((path) => path !== null) ?? null
}

export function findCompiler(): string | null {
  return process.platform === 'linux' ? (Bun.which('cc') ?? Bun.which('gcc')) : null
}

/**
 * The paths of initdb and the server, which Debian does not have in the PATH of users.
 */
export function findMariadb(): { install: string; server: string } | null {
  const install = Bun.which('mariadb-install-db')
  const server = Bun.which('mariadbd', { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` })
  return install === null || server === null ? null : { install, server }
}

/**
 * Returns the folder of `initdb` and `postgres`: ONCEBOX_TEST_POSTGRES_BIN, or the newest of Debian's
 * packages.
 */
export function findPostgres(): string | null {
  const given = process.env.ONCEBOX_TEST_POSTGRES_BIN
  if (given !== undefined) return requirePostgres(given)
  const [initdb] = [...new Bun.Glob('/usr/lib/postgresql/*/bin/initdb').scanSync('/')].sort().reverse()
  return initdb?.slice(0, -'/initdb'.length) ?? null
}

/** Throws if the named version is missing, because its tests must not be skipped. */
function requirePostgres(folder: string): string {
  if (existsSync(join(folder, 'initdb'))) return folder
  throw new Error(`ONCEBOX_TEST_POSTGRES_BIN=${folder} holds no initdb`)
}
