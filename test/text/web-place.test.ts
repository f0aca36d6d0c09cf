// Tests the list of --webhook-hosts, and the URLs that it allows.

import { describe, expect, test } from 'bun:test'
import { isListed, parsePlace, webPlaceOf } from '../../src/text/web-address.ts'

test.each([
  ['ntfy.sh', 'ntfy.sh'],
  [' NTFY.sh ', 'ntfy.sh'],
  ['ntfy.sh:8443', 'ntfy.sh:8443'],
  ['192.168.1.5:8123', '192.168.1.5:8123'],
  ['fd00::5', '[fd00::5]'],
  ['[fd00:0:0::5]:80', '[fd00::5]:80'],
  ['home_assistant', 'home_assistant'],
  ['bücher.example', 'xn--bcher-kva.example'],
])('the listed host %p is stored as %p', (text, listed) => expect(parsePlace(text)).toBe(listed))

test.each([
  ...[
    '',
    '*',
    '*.example',
    'https://ntfy.sh',
    'ntfy.sh/x',
    'a@ntfy.sh',
    'ntfy.sh:',
    'ntfy.sh:0',
    'ntfy.sh:70000',
  ],
  ...['ntfy.sh:8x', '[::1', 'a b', '10.0.0.0/8', '.', 'a,b', `${'a'.repeat(300)}.example`],
])('%p cannot be listed as a host', (text) => expect(parsePlace(text)).toBeNull())

describe('a URL is allowed by host and port', () => {
  const LISTED = ['hook.example', 'other.example:8080', '127.0.0.1:9', '[::1]']
  const allows = (url: string) => {
    const place = webPlaceOf(url)
    return place !== null && isListed(place, LISTED)
  }

  test.each([
    ...[
      'https://hook.example/x?y#z',
      'http://hook.example',
      'HTTPS://HOOK.EXAMPLE:443/',
      'http://hook.example:80/',
    ],
    ...[
      'http://other.example:8080',
      'https://other.example:8080/',
      'http://127.0.0.1:9/',
      'http://[0:0::1]/',
    ],
    // Other spellings of the same address.
    ...['http://127.1:9/', 'http://0x7f.0.0.1:9/', 'http://2130706433:9/', 'http://%31%32%37.0.0.1:9/'],
  ])('%s', (url) => expect(allows(url)).toBe(true))

  test.each([
    ...[
      'https://hook.example:8443/',
      'http://hook.example:443/',
      'http://other.example/',
      'http://127.0.0.1/',
    ],
    ...[
      'https://hook.example.',
      'https://a.hook.example',
      'https://hook.example.evil.example',
      'ftp://hook.example',
    ],
    ...[
      'https://a@hook.example',
      'https://a:b@hook.example',
      'https://hook.example@evil.example/',
      'file:///hook.example',
    ],
    ...[
      'https://evil.example/hook.example',
      'https://evil.example#@hook.example',
      'hook.example',
      '//hook.example',
    ],
    ...[
      'https://evil.example\\@hook.example/',
      'https:\\\\hook.example',
      'https://hook.example\t.evil.example',
      '',
    ],
    ...[
      'https://hook.ex\u2024ample/',
      'http://127.0.0.2:9/',
      'http://[::ffff:127.0.0.1]:9/',
      'javascript:alert(1)',
    ],
  ])('not %j', (url) => expect(allows(url)).toBe(false))
})
