// The role for Ansible and the formula for Homebrew, as the programs of their systems read them.

import { afterAll, beforeAll, expect } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needs } from '../../support/needs.ts'
import { makeSmallRelease, RELEASED, type SmallRelease } from '../../support/small-release.ts'

const WORK = mkdtempSync(join(tmpdir(), 'oncebox-recipes-'))
let release: SmallRelease

beforeAll(async () => {
  release = await makeSmallRelease(join(WORK, 'release'), { key: null, kinds: [] })
})

afterAll(() => rmSync(WORK, { recursive: true, force: true }))

async function run(command: readonly string[], cwd: string) {
  const env = {
    ...process.env,
    ...{ HOME: WORK, LC_ALL: 'C.UTF-8', ANSIBLE_NOCOLOR: '1', ANSIBLE_LOCALHOST_WARNING: 'false' },
  }
  const child = Bun.spawn([...command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { exitCode: await child.exited, stdout, stderr }
}

const shaOf = (part: string) => release.table.files.find((file) => file.part === part)?.sha256 ?? ''
const nameOf = (part: string) => release.table.files.find((file) => file.part === part)?.name ?? ''

needs('ansible-lint').test('ansible-lint finds no fault in the role and the playbook', async () => {
  const folder = join(WORK, 'linted')
  cpSync(join(release.folder, 'ansible'), folder, { recursive: true })
  const { exitCode, stdout } = await run(['ansible-lint', '--offline', '--nocolor', '-p', 'site.yml'], folder)
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
})

needs('ansible-playbook').test('the role has three tasks, which a second run finds done', async () => {
  const folder = join(release.folder, 'ansible')
  const executable = join(WORK, 'installed')
  const variables = JSON.stringify({
    oncebox_executable: executable,
    oncebox_download_base: `file://${release.folder}`,
    oncebox_flags: ['--base-url', 'https://once.example'],
  })
  const play = [{ hosts: 'localhost', connection: 'local', roles: ['oncebox'] }]
  const playbook = join(folder, 'try.yml')
  writeFileSync(playbook, JSON.stringify(play))
  const ansible = (...words: string[]) =>
    run(['ansible-playbook', '-i', 'localhost,', ...words, '-e', variables, 'try.yml'], folder)
  const tasks = (await ansible('--list-tasks')).stdout.match(/oncebox : .*(?=\tTAGS)/g)
  expect(tasks).toEqual([
    'oncebox : Fetch the executable',
    'oncebox : Install, update or reconfigure the service',
    'oncebox : Wait until it answers',
  ])
  expect((await ansible('--syntax-check')).exitCode).toBe(0)
  expect((await ansible()).stdout).toMatch(/ok=4 +changed=2 +unreachable=0 +failed=0/)
  expect(readFileSync(`${executable}.calls`, 'utf8')).toBe(
    'service install --base-url https://once.example\nhealth\n',
  )
  expect((await ansible()).stdout).toMatch(/ok=4 +changed=0 +unreachable=0 +failed=0/)
  rmSync(playbook)
})

needs('ansible-playbook').test('the role refuses an executable with another sum', async () => {
  const folder = join(WORK, 'altered')
  cpSync(join(release.folder, 'ansible'), join(folder, 'ansible'), { recursive: true })
  for (const part of ['linux-x64', 'linux-arm64']) writeFileSync(join(folder, nameOf(part)), 'something else')
  const executable = join(WORK, 'never-installed')
  const variables = JSON.stringify({
    oncebox_executable: executable,
    oncebox_download_base: `file://${folder}`,
  })
  writeFileSync(
    join(folder, 'ansible/try.yml'),
    JSON.stringify([{ hosts: 'localhost', connection: 'local', roles: ['oncebox'] }]),
  )
  const words = ['ansible-playbook', '-i', 'localhost,', '-e', variables, 'try.yml']
  const { exitCode, stdout } = await run(words, join(folder, 'ansible'))
  expect(exitCode).not.toBe(0)
  expect(stdout).toContain('The checksum for')
  expect(existsSync(executable)).toBe(false)
})

/** Ruby that imitates Homebrew while a formula is read: records each download, with its system. */
const HOMEBREW = `
require "json"
class Formula
  DOWNLOADS = []
  class << self
    def desc(*) = nil
    def homepage(*) = nil
    def license(*) = nil
    def version(text) = @version = text
    def on_macos = on("macos") { yield }
    def on_linux = on("linux") { yield }
    def on_arm = on("arm") { yield }
    def on_intel = on("intel") { yield }
    def on(name) = ((@on ||= []).push(name); yield; @on.pop)
    def url(text) = DOWNLOADS.push([@on.join(" "), text, @version])
    def sha256(text) = DOWNLOADS.last.push(text)
    def service = nil
    def test = nil
  end
end
load ARGV[0]
puts JSON.generate(Formula::DOWNLOADS)
`

needs('ruby').test('ruby reads the formula, which names the sums of the release', async () => {
  const path = join(release.folder, 'homebrew/oncebox.rb')
  expect((await run(['ruby', '-wc', path], WORK)).stdout).toBe('Syntax OK\n')
  const { stdout } = await run(['ruby', '-e', HOMEBREW, path], WORK)
  const parts = { 'macos arm': 'macos-arm64', 'macos intel': 'macos-x64', 'linux arm': 'linux-arm64' }
  expect(JSON.parse(stdout)).toEqual(
    Object.entries({ ...parts, 'linux intel': 'linux-x64' }).map(([on, part]) => [
      ...[on, `${RELEASED.base}/${nameOf(part)}`, RELEASED.version, shaOf(part)],
    ]),
  )
})
