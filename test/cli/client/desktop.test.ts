// Clipboard, notifications and the menus of file managers, with programs of the desktop that record what they
// get.

import { beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { menuFiles, shortcutScript } from '../../../src/cli/desktop/menus.ts'
import { useClients } from './clients.ts'

const { place, path, tryOut, signedIn, push } = useClients()

/** A clipboard in a file, and notifications in another. */
beforeEach(() => {
  mkdirSync(path('bin'))
  const clip = path('clip')
  program('xclip', `case "$*" in *-out*) cat "${clip}" ;; *) cat > "${clip}" ;; esac`)
  program('notify-send', `shift 2; printf '%s|' "$@" >> "${path('notes')}"`)
})

function program(name: string, script: string): void {
  const file = path(`bin/${name}`)
  writeFileSync(file, `#!/bin/sh\necho "$0 $*" >> "${path('arguments')}"\n${script}\n`)
  chmodSync(file, 0o700)
}

const env = (more: Record<string, string> = {}) => ({
  ...{ DISPLAY: ':9', PATH: `${path('bin')}:/usr/bin:/bin`, ...more },
})
const clipboard = () => readFileSync(path('clip'), 'utf8')
const read = (name: string) => (existsSync(path(name)) ? readFileSync(path(name), 'utf8') : '')

describe('push', () => {
  test('--copy puts the link on the clipboard, and --notify tells without it', async () => {
    const trial = tryOut({ input: 'hunter2', env: env() })
    expect(await trial.run('push', '--copy', '--notify')).toBe(0)
    expect(clipboard()).toBe(trial.out[0] ?? '')
    expect(read('notes')).toStartWith('Oncebox|The secret link is on the clipboard. It expires after 5 views')
    expect(read('notes') + read('arguments')).not.toMatch(/\/p\/|hunter2/)
  })

  test('--paste takes the secret from the clipboard and empties it', async () => {
    writeFileSync(path('clip'), '- hunter2')
    const trial = tryOut({ env: env() })
    expect(await trial.run('push', '--paste')).toBe(0)
    expect(clipboard()).toBe('')
    const opened = tryOut()
    await opened.run('get', trial.out[0] ?? '')
    expect(opened.out.join('')).toBe('- hunter2')
    expect(read('arguments')).not.toContain('hunter2')
  })

  test('--paste does not clear a clipboard whose content has changed since', async () => {
    writeFileSync(path('clip'), 'hunter2')
    program(
      'xclip',
      `case "$*" in *-out*) cat "${path('clip')}"; echo other > "${path('clip')}" ;; *) cat > "${path('clip')}" ;; esac`,
    )
    expect(await tryOut({ env: env() }).run('push', '--paste')).toBe(0)
    expect(clipboard()).toBe('other\n')
  })

  test('--paste --copy replaces the secret on the clipboard by the link', async () => {
    writeFileSync(path('clip'), 'hunter2')
    const trial = tryOut({ env: env() })
    expect(await trial.run('push', '--paste', '--copy')).toBe(0)
    expect(clipboard()).toBe(trial.out[0] ?? '')
  })

  test.each([
    [{ DISPLAY: '' }, 'no session of a desktop'],
    [{ PATH: '/nowhere' }, 'install the package xclip'],
    [{ PATH: '/nowhere', WAYLAND_DISPLAY: 'wayland-0' }, 'install the package wl-clipboard'],
  ])('without a clipboard (%p) nothing is pushed, and the package is named', async (more, words) => {
    for (const flag of ['--copy', '--paste']) {
      const trial = tryOut({ input: 'hunter2', env: env(more) })
      expect([await trial.run('push', flag), trial.out]).toEqual([1, []])
      expect(trial.text()).toContain(words)
    }
  })

  test('an empty clipboard is not pushed', async () => {
    writeFileSync(path('clip'), ' \n')
    const trial = tryOut({ env: env() })
    expect(await trial.run('push', '--paste')).toBe(1)
    expect(trial.text()).toContain('the clipboard holds no text')
  })

  test('a notification reports a failure too, as text and not as markup', async () => {
    mkdirSync(path('<b>folder'))
    const run = (file: string) => tryOut({ env: env() }).run('push', '--notify', '--copy', '--file', file)
    expect(await run(path('<b>folder'))).toBe(2)
    expect(read('notes')).toContain('&lt;b>folder')
    writeFileSync(path('a.txt'), 'x')
    expect(await run(path('a.txt'))).toBe(4)
    expect(read('notes')).toContain('Files need a login')
  })

  test('a missing program for notifications is named, and the push is made', async () => {
    rmSync(path('bin/notify-send'))
    const trial = tryOut({ input: 'x', env: env({ PATH: path('bin') }) })
    expect(await trial.run('push', '--notify')).toBe(0)
    expect(trial.text()).toContain('install the package libnotify-bin')
  })
})

describe('get --copy', () => {
  test('puts the text on the clipboard instead of the screen, and empties it afterwards', async () => {
    const link = await push(tryOut({ input: 'hunter2' }))
    const trial = tryOut({ env: env() })
    let held = ''
    trial.shell.pause = async (seconds) => {
      held = `${seconds} ${clipboard()}`
    }
    expect(await trial.run('get', link, '--copy')).toBe(0)
    expect([held, clipboard(), trial.out]).toEqual(['45 hunter2', '', []])
    expect(trial.text() + read('arguments')).not.toContain('hunter2')
  })

  test('does not clear what was copied meanwhile', async () => {
    const link = await push(tryOut({ input: 'hunter2' }))
    const trial = tryOut({ env: env() })
    trial.shell.pause = async () => writeFileSync(path('clip'), 'newer')
    expect(await trial.run('get', link, '--copy')).toBe(0)
    expect(clipboard()).toBe('newer')
  })

  test('marks the text as a secret where the program can', async () => {
    program('wl-copy', `case "$1" in --clear) : > "${path('clip')}" ;; *) cat > "${path('clip')}" ;; esac`)
    program('wl-paste', `cat "${path('clip')}"`)
    const link = await push(tryOut({ input: 'hunter2' }))
    expect(await tryOut({ env: env({ WAYLAND_DISPLAY: 'w' }) }).run('get', link, '--copy')).toBe(0)
    expect([read('arguments').includes('wl-copy --sensitive'), clipboard()]).toEqual([true, ''])
  })

  test('opens no push if the clipboard could not be emptied', async () => {
    const link = await push(tryOut({ input: 'hunter2' }), '--views', '1')
    const trial = tryOut({ answers: [], env: env({ DISPLAY: '' }) })
    expect(await trial.run('get', link, '--copy')).toBe(1)
    const later = tryOut()
    await later.run('get', link)
    expect(later.out.join('')).toBe('hunter2')
  })

  test('prints the text if the clipboard refuses it, because the view is used up', async () => {
    const link = await push(tryOut({ input: 'hunter2' }))
    program('xclip', 'exit 1')
    const trial = tryOut({ env: env() })
    expect(await trial.run('get', link, '--copy')).toBe(0)
    expect(trial.out.join('')).toBe('hunter2')
  })
})

describe('desktop', () => {
  const script = () => join(place.folder, '.local/share/nautilus/scripts/Share through Oncebox')

  test('install writes its files into the user’s own folders, status lists them, and uninstall removes them', async () => {
    const run = async (...argv: string[]) => {
      const trial = signedIn({ env: env() })
      return { code: await trial.run('desktop', ...argv), text: trial.text() }
    }
    expect((await run('status')).code).toBe(1)
    expect(await run('install')).toMatchObject({ code: 0 })
    expect(statSync(script()).mode & 0o777).toBe(0o700)
    expect(await run('status')).toMatchObject({ code: 0, text: expect.stringContaining('Dolphin') })
    writeFileSync(script(), readFileSync(script(), 'utf8').replace('push', 'pull'))
    expect(await run('status')).toMatchObject({ code: 1, text: expect.stringContaining('outdated') })
    expect((await run('install')).code).toBe(0)
    expect((await run('uninstall')).code).toBe(0)
    expect(existsSync(script())).toBe(false)
    expect((await run('uninstall')).text).toContain('It was not installed.')
  })

  test('does not touch files of others', async () => {
    mkdirSync(join(script(), '..'), { recursive: true })
    writeFileSync(script(), '#!/bin/sh\necho mine\n')
    const trial = tryOut()
    expect(await trial.run('desktop', 'install')).toBe(1)
    await tryOut().run('desktop', 'uninstall')
    expect(readFileSync(script(), 'utf8')).toContain('mine')
    expect(existsSync(path('.local/share/Thunar'))).toBe(false)
  })

  test('names what the machine lacks, with its package', async () => {
    const trial = tryOut({ env: env({ PATH: '/nowhere' }) })
    expect(await trial.run('desktop', 'install')).toBe(0)
    for (const words of ['package xclip', 'package libnotify-bin', 'oncebox login'])
      expect(trial.text()).toContain(words)
  })

  test('the script passes on every name as a file', async () => {
    program('oncebox', `printf '<%s>' "$@" > "${path('called')}"`)
    const trial = tryOut({ env: env() })
    const shell = { ...trial.shell, self: [path('bin/oncebox')] }
    const [file] = menuFiles(shell.os, shell.self)
    writeFileSync(path('share'), file?.content ?? '', { mode: 0o700 })
    const names = ['/a b', '-', "it's", '--qr', 'line\nbreak', '$(touch x)']
    Bun.spawnSync([path('share'), ...names], { cwd: place.folder })
    const given = names.map((name) => `<--file=${name.startsWith('/') ? '' : './'}${name}>`)
    expect(read('called')).toBe(`<push><--copy><--notify>${given.join('')}`)
  })

  test('Windows gets a shortcut in Send To, whose script quotes no name', () => {
    const os = {
      env: { APPDATA: 'C:\\R', LOCALAPPDATA: 'C:\\L' },
      platform: 'win32',
      home: 'C:\\U',
      cwd: 'C:\\',
    } as const
    const [script, shortcut] = menuFiles(os, ["C:\\it's\\oncebox.exe"])
    expect(shortcut?.path).toBe('C:\\R\\Microsoft\\Windows\\SendTo\\Share through Oncebox.lnk')
    expect(script?.content).toContain("& 'C:\\it''s\\oncebox.exe' push --copy --notify @files")
    expect(shortcutScript(shortcut?.path ?? '', script?.path ?? '')).toContain(
      '-File "C:\\L\\Oncebox\\share-files.ps1"',
    )
  })

  test('the message on macOS names the alternative', async () => {
    const trial = tryOut({ platform: 'darwin' })
    expect(await trial.run('desktop', 'install')).toBe(1)
    expect(trial.text()).toContain('push --file FILE --copy')
  })
})
