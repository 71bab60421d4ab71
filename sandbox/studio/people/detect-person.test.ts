import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { silentLogger } from '../../../platform/process/logger.ts';
import { createStudio } from '../studio.ts';
import type { Studio } from '../types/studio.ts';
import { declaredPeople, detectPerson, largestFace } from './detect-person.ts';
import { readXml } from './xml.ts';

let studio: Studio;

beforeAll(() => {
  studio = createStudio({ size: 'small', logger: silentLogger() });
});
afterAll(() => studio.close());

/** As Lightroom writes it: structures as attributes. */
const ATTRIBUTES = `<rdf:li><rdf:Description mwg-rs:Name="Ada &amp; Co" mwg-rs:Type="Face">
<mwg-rs:Area stArea:x="0.5" stArea:y="0.25" stArea:w="0.2" stArea:h="0.1" stArea:unit="normalized"/>
</rdf:Description></rdf:li>`;
/** As digiKam writes it: structures as elements. */
const ELEMENTS = `<rdf:li rdf:parseType="Resource"><mwg-rs:Area rdf:parseType="Resource">
<stArea:x>0.1</stArea:x><stArea:y>0.1</stArea:y><stArea:w>0.4</stArea:w><stArea:h>0.4</stArea:h>
</mwg-rs:Area><mwg-rs:Type>Face</mwg-rs:Type></rdf:li>`;
/** To the left of the middle: turning it over makes a difference. */
const ASIDE = ATTRIBUTES.replace('stArea:x="0.5"', 'stArea:x="0.3"');
const PET = ELEMENTS.replace('Face', 'Pet');
const NAMES =
  '<Iptc4xmpExt:PersonInImage><rdf:Bag><rdf:li>Grace</rdf:li><rdf:li>Grace</rdf:li></rdf:Bag></Iptc4xmpExt:PersonInImage>';

const xmpWith = (regions: string, more = '') => `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/" xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">
<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag>${regions}</rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>${more}
</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`;
const createImage = (format: 'jpeg' | 'png' | 'webp', xmp?: string) => {
  const plain = sharp({ create: { width: 40, height: 20, channels: 3, background: 'teal' } });
  return (xmp === undefined ? plain : plain.withXmp(xmp)).toFormat(format).toBuffer();
};

test.each(['jpeg', 'png', 'webp'] as const)(
  'finds who a %s declares, with boxes and names',
  async (format) => {
    const file = await createImage(format, xmpWith(ATTRIBUTES + ELEMENTS + PET, NAMES));
    const found = await studio.detectPerson(file);
    expect(found).toMatchObject({
      hasPerson: true,
      reason: 'the file declares 2 face regions (MWG) and 1 named person (IPTC)',
      subjects: [{ name: 'Ada & Co' }, { name: null }, { name: 'Grace', box: null }],
    });
    const [first, second] = found.subjects;
    expect(rounded(first?.box)).toEqual({ x: 0.4, y: 0.2, width: 0.2, height: 0.1 });
    expect(rounded(second?.box)).toEqual({ x: 0, y: 0, width: 0.3, height: 0.3 });
    expect(rounded(await largestFace(file))).toEqual({ x: 0, y: 0, width: 0.3, height: 0.3 });
  },
);

test('does not say no when nothing is declared: it does not know', async () => {
  for (const file of [await createImage('png'), await createImage('jpeg', xmpWith(PET))]) {
    const found = await studio.detectPerson(file);
    expect(found).toMatchObject({ hasPerson: null, subjects: [] });
    expect(found.reason).toContain('not recognised');
    expect(await largestFace(file)).toBeNull();
  }
});

test('a name alone declares a person without a box', async () => {
  const found = await detectPerson(await createImage('jpeg', xmpWith('', NAMES)));
  expect(found).toEqual({
    hasPerson: true,
    reason: 'the file declares 1 named person (IPTC)',
    subjects: [{ name: 'Grace', box: null }],
  });
});

test.each([
  [1, { x: 0.2, y: 0.2, width: 0.2, height: 0.1 }],
  [2, { x: 0.6, y: 0.2, width: 0.2, height: 0.1 }],
  [3, { x: 0.6, y: 0.7, width: 0.2, height: 0.1 }],
  [4, { x: 0.2, y: 0.7, width: 0.2, height: 0.1 }],
  [5, { x: 0.2, y: 0.2, width: 0.1, height: 0.2 }],
  [6, { x: 0.7, y: 0.2, width: 0.1, height: 0.2 }],
  [7, { x: 0.7, y: 0.6, width: 0.1, height: 0.2 }],
  [8, { x: 0.2, y: 0.6, width: 0.1, height: 0.2 }],
])('turns boxes along with an image of orientation %i', async (orientation, box) => {
  const { faces } = declaredPeople(xmpWith(ASIDE), orientation);
  expect(rounded(faces[0]?.box)).toEqual(box);
  // The stored middle of the face, painted red, is where the box says in the image as shown.
  const stored = await sharp({ create: { width: 100, height: 100, channels: 3, background: 'black' } })
    .composite([
      { input: { create: { width: 10, height: 4, channels: 3, background: 'red' } }, left: 25, top: 23 },
    ])
    .withXmp(xmpWith(ASIDE))
    .withMetadata({ orientation })
    .png()
    .toBuffer();
  const face = await largestFace(stored);
  expect(rounded(face)).toEqual(box);
  const shown = await sharp(stored).autoOrient().removeAlpha().raw().toBuffer();
  const [x, y] = [face!.x + face!.width / 2, face!.y + face!.height / 2];
  expect(shown[(Math.round(y * 100) * 100 + Math.round(x * 100)) * 3]).toBe(255);
});

test.each([
  ['no number', 'stArea:x="x" stArea:y="0.25" stArea:w="0.2" stArea:h="0.1"'],
  ['outside of the image', 'stArea:x="7" stArea:y="0.25" stArea:w="0.2" stArea:h="0.1"'],
  ['no size', 'stArea:x="0.5" stArea:y="0.5" stArea:w="0" stArea:h="-1"'],
  ['in pixels', 'stArea:x="5" stArea:y="5" stArea:w="2" stArea:h="2" stArea:unit="pixel"'],
])('a face whose area is %s has no box', (_what, area) => {
  const region = `<rdf:li><rdf:Description mwg-rs:Type="Face"><mwg-rs:Area ${area}/></rdf:Description></rdf:li>`;
  expect(declaredPeople(xmpWith(region), 1).faces).toEqual([{ name: null, box: null }]);
});

test('reads no more of a hostile description than it has to', () => {
  const many = declaredPeople(xmpWith(ATTRIBUTES.repeat(3_000)), 1);
  expect(many.faces).toHaveLength(50);
  const texts = [
    `<${'a'.repeat(900_000)}`,
    '<!--'.repeat(300_000),
    '<a "'.repeat(300_000),
    `<a ${'a'.repeat(900_000)}`,
    `<a ${'a'.repeat(900_000)}>`,
    '<a>'.repeat(300_000),
    '</a>'.repeat(300_000),
    '&'.repeat(900_000),
    '<![CDATA['.repeat(100_000),
  ];
  const started = performance.now();
  for (const text of texts) expect(declaredPeople(text, 1)).toEqual({ faces: [], names: [] });
  // Each would take minutes if it were searched again from every sign.
  expect(performance.now() - started).toBeLessThan(20_000);
  const long = declaredPeople(xmpWith(ATTRIBUTES.replace('Ada', 'a'.repeat(5_000))), 1);
  expect(long.faces[0]?.name).toHaveLength(200);
});

test('reads XML as far as it goes', () => {
  const { children } = readXml(
    '<!DOCTYPE x><a one="1 &lt; 2" two=\'"\'><b>x<!-- <c> -->y</b><![CDATA[<z>&amp;]]></nothing>&#65;&#x42;&#99999999;<d/></a><e',
  );
  expect(children).toHaveLength(1);
  const [a] = children;
  expect([...(a?.attributes ?? [])]).toEqual([
    ['one', '1 < 2'],
    ['two', '"'],
  ]);
  expect(a?.children.map(({ name, text }) => [name, text])).toEqual([
    ['b', 'xy'],
    ['d', ''],
  ]);
  expect(a?.text).toBe('<z>&amp;AB&#99999999;');
});

test('refuses what is no image', async () => {
  await expect(studio.detectPerson(Buffer.from('hello'))).rejects.toEqual(
    expect.objectContaining({ name: 'StudioRefusal', code: 'UNREADABLE_MEDIA' }),
  );
});

function rounded(box: object | null | undefined) {
  return Object.fromEntries(
    Object.entries(box ?? {}).map(([side, value]: [string, unknown]) => [
      side,
      Math.round(Number(value) * 1_000) / 1_000,
    ]),
  );
}
