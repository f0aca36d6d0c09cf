// The text that joins a Wi-Fi network, as cameras read it.

import { expect, test } from 'bun:test'
import { parseWifi, type Wifi, wifiText } from '../../src/pages/frame/wifi-text.ts'

const WIFI: Wifi = { network: 'office', password: 'k3m9-qx2v', type: 'WPA', isHidden: false }

test.each<[Partial<Wifi>, string]>([
  [{}, 'WIFI:T:WPA;S:office;P:k3m9-qx2v;;'],
  [{ type: 'WEP' }, 'WIFI:T:WEP;S:office;P:k3m9-qx2v;;'],
  [{ isHidden: true }, 'WIFI:T:WPA;S:office;P:k3m9-qx2v;H:true;;'],
  [{ type: 'nopass' }, 'WIFI:T:nopass;S:office;;'],
  [{ network: 'büro 🔑', password: ' pass word ' }, 'WIFI:T:WPA;S:büro 🔑;P: pass word ;;'],
  [{ network: 'a;b,c:d"e\\f' }, String.raw`WIFI:T:WPA;S:a\;b\,c\:d\"e\\f;P:k3m9-qx2v;;`],
  [{ password: String.raw`\;` }, String.raw`WIFI:T:WPA;S:office;P:\\\;;;`],
  [{ password: '12345678' }, 'WIFI:T:WPA;S:office;P:12345678;;'],
])('%p', (changes, text) => {
  expect(wifiText({ ...WIFI, ...changes })).toBe(text)
  const password = changes.type === 'nopass' ? { password: '' } : {}
  expect(parseWifi(text)).toEqual({ ...WIFI, ...changes, ...password })
})

test.each<[string, Partial<Wifi>]>([
  ['wifi:S:office;T:wpa2;P:k3m9-qx2v;', {}],
  ['WIFI:P:k3m9-qx2v;H:false;S:office;T:SAE;R:1;;\n', {}],
  ['WIFI:S:office;P:;T:nopass;;', { type: 'nopass', password: '' }],
  ['WIFI:S:office;;', { type: 'nopass', password: '' }],
])('%p of another program is read', (text, changes) => {
  expect(parseWifi(text)).toEqual({ ...WIFI, ...changes })
})

test.each([
  ['of another kind', 'https://example.org/WIFI:T:WPA;S:a;P:b;;'],
  ['without a network', 'WIFI:T:WPA;P:b;;'],
  ['with two networks', 'WIFI:T:WPA;S:a;S:evil;P:b;;'],
  ['with something behind its end', 'WIFI:T:WPA;S:a;P:b;;S:evil;'],
  ['that is cut off', 'WIFI:T:WPA;S:a;P:b'],
  ['that ends within an escape', 'WIFI:T:WPA;S:a;P:b\\'],
  ['of a company, with a user name', 'WIFI:T:WPA2-EAP;S:a;E:PEAP;I:ann;P:b;;'],
  ['of an unknown type', 'WIFI:T:constructor;S:a;P:b;;'],
  ['that has no password although its type needs one', 'WIFI:T:WPA;S:a;;'],
  ['that has a password although its type needs none', 'WIFI:T:nopass;S:a;P:b;;'],
])('a code %s is shown as its text alone', (_what, text) => {
  expect(parseWifi(text)).toBeNull()
})
