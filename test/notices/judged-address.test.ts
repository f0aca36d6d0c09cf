// The addresses that a listed name may resolve to.

import { describe, expect, test } from 'bun:test'
import { isAllowedAddress } from '../../src/notices/judged-address.ts'
import { webPlaceOf } from '../../src/text/web-address.ts'

const place = webPlaceOf('https://hook.example/x')
const judge = (
  address: string,
  listed: string[] = ['hook.example'],
  own: string[] = ['192.168.7.7', '2001:db8::7'],
) => place !== null && isAllowedAddress(address, place, { listed, own })

describe('a listed name may only resolve to other machines', () => {
  test.each([
    ...['203.0.113.9', '10.1.2.3', '192.168.1.5', '172.16.0.9', '100.64.3.2', '2001:db8::9', 'fd12:3456::9'],
    ...['::ffff:203.0.113.9', '64:ff9b::203.0.113.9'],
  ])('%s is allowed', (address) => expect(judge(address)).toBe(true))

  test.each([
    ...['127.0.0.1', '127.9.9.9', '0.0.0.0', '0.1.2.3', '255.255.255.255', '224.0.0.1', '169.254.169.254'],
    ...['169.254.3.4', '100.100.100.200', '168.63.129.16', '::', '::1', 'fe80::1', 'fe80::1%eth0', 'ff02::1'],
    ...['192.0.0.192', 'fd20:ce::254', 'fd00:42::42'],
    ...['fd00:ec2::254', 'fec0::1', '100::1', '2001:0:a:b::1'],
    // IPv4 in the forms of IPv6: mapped, compatible, translated, NAT64 and 6to4.
    ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', '::ffff:0:127.0.0.1', '64:ff9b::127.0.0.1'],
    ...[
      '64:ff9b:1::7f00:1',
      '2002:7f00:1::',
      '2002:a9fe:a9fe::1',
      '64:ff9b::a9fe:a9fe',
      '::ffff:169.254.169.254',
    ],
    ...['::a9fe:a9fe', '::ffff:100.100.100.200', '::ffff:168.63.129.16'],
    // Addresses of this machine.
    ...['192.168.7.7', '2001:db8::7', '2001:DB8:0:0::7', '::ffff:192.168.7.7', '64:ff9b::c0a8:707'],
    // Texts that are no addresses.
    ...['', 'localhost', '300.1.1.1', '127.1', '0x7f.1', '2130706433'],
  ])('%s is not allowed', (address) => expect(judge(address)).toBe(false))

  test.each([
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.1:443', true],
    ['127.0.0.1', '127.0.0.1:8443', false],
    ['::ffff:127.0.0.1', '127.0.0.1', true],
    ['127.0.0.2', '127.0.0.1', false],
    ['::1', '[::1]', true],
    ['192.168.7.7', '192.168.7.7', true],
    ['169.254.169.254', '169.254.169.254', true],
  ])('%s, where %s is listed by address: %p', (address, listed, allowed) =>
    expect(judge(address, ['hook.example', listed])).toBe(allowed),
  )
})
