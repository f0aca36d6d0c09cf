// The installed service of a machine, in a private mount of /etc, with the unit's command run as systemd
// would.

import { expect } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BINARY, createStage } from '../support/binary.ts'
import { needs } from '../support/needs.ts'

const stage = createStage()

/** Folders whose changes only the script can see. */
const PRIVATE = ['/etc', '/usr/local/bin', '/var/lib']

const inPrivate = needs('mount', 'systemctl', 'unshare', 'bash', 'setpriv', 'curl')

async function runPrivately(script: string) {
  const room = stage.folder()
  const setUp = [
    'set -e',
    `mount -t tmpfs none ${room}`,
    `chmod 755 ${room}`,
    ...PRIVATE.map((path) => `mkdir -p ${room}${path} && chmod 755 ${room}${path}`),
    `cp -a /etc/. ${room}/etc/`,
    ...PRIVATE.map((path) => `mount --bind ${room}${path} ${path}`),
    'set +e; cd /',
  ]
  const child = Bun.spawn(['unshare', '--mount', 'bash', '-c', [...setUp, script].join('\n')], {
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, HOME: '/root', ROOM: room },
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  await stage.clear()
  return { out, err }
}

inPrivate.test(
  'a service is installed, serves, is found by commands, and is removed without its data',
  async () => {
    const { out, err } = await runPrivately(`
    ${BINARY} service install --no-start --port 0 && stat -c '%a %U:%G %n' /etc/oncebox/oncebox.env
    ${BINARY} service install --no-start 2>&1 | grep -c 'copy\\|write' | sed 's/^/repeated: /'
    readlink /etc/systemd/system/multi-user.target.wants/oncebox.service
    install -d -o oncebox -g oncebox -m 700 /var/lib/oncebox
    env -i $(grep ^Environment= /etc/systemd/system/oncebox.service | cut -d= -f2-) $(grep -v '^#' /etc/oncebox/oncebox.env) \\
      setpriv --reuid oncebox --regid oncebox --init-groups /usr/local/bin/oncebox serve > $ROOM/log 2>&1 & SERVER=$!
    for n in $(seq 900); do grep -q ^Open: $ROOM/log && break; sleep 0.1; done
    curl -s $(grep -o 'http://localhost:[0-9]*' $ROOM/log | head -1)/up && echo
    /usr/local/bin/oncebox health && stat -c '%U %n' /var/lib/oncebox/serve.lock
    setpriv --reuid nobody --regid nogroup --clear-groups /usr/local/bin/oncebox health
    echo 'correct horse battery' | /usr/local/bin/oncebox user add ann@example.org --password-stdin
    stat -c '%U %n' /var/lib/oncebox/oncebox.db
    setpriv --reuid nobody --regid nogroup --clear-groups /usr/local/bin/oncebox service uninstall
    /usr/local/bin/oncebox service uninstall
    ls -A /var/lib/oncebox | grep -c oncebox.db$
    ls /etc/systemd/system/oncebox.service 2>&1
    kill $SERVER; wait`)
    expect(out).toContain('Open:           http://localhost:0')
    expect(out).toContain('640 root:oncebox /etc/oncebox/oncebox.env')
    expect(out).toContain('repeated: 0')
    expect(out).toContain('/etc/systemd/system/oncebox.service')
    expect(out).toContain('{"up":true}')
    expect(out).toContain('ok\noncebox /var/lib/oncebox/serve.lock')
    expect(err).toContain(
      'To ask the service of this machine (/etc/systemd/system/oncebox.service), run this as root.',
    )
    expect(out).toContain('ann@example.org is added')
    expect(out).toContain('oncebox /var/lib/oncebox/oncebox.db')
    expect(err).toContain('Using the settings of the installed service: /etc/oncebox/oncebox.env')
    expect(err).toContain('Only root can uninstall a service of this machine')
    expect(out).toContain('Kept: the data in /var/lib/oncebox')
    expect(out).toContain("cannot access '/etc/systemd/system/oncebox.service'")
    expect(existsSync(join('/etc', 'oncebox', 'oncebox.env'))).toBe(false)
  },
)

if (!existsSync('/run/systemd/system'))
  inPrivate.test('without systemd, nothing is changed', async () => {
    const { out, err } = await runPrivately(`${BINARY} service install; ls /usr/local/bin /etc/oncebox 2>&1`)
    expect(err).toContain('systemd does not run on this machine')
    expect(out).toContain("cannot access '/etc/oncebox'")
  })
