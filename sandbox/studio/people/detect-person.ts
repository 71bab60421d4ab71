import sharp from 'sharp';

import {
  StudioError,
  type PersonDetection,
  type DepictedPerson,
  type FaceBox,
} from '../types/media-types.ts';
import { elementsNamed, readProperty, readXml, type XmlElement } from './xml.ts';

/** Most pixels that are decoded. */
const MAX_PIXELS = 50_000_000;
const UPRIGHT = 1;

/** The people that an image's metadata declares; nothing is recognized. Throws UNREADABLE_MEDIA. */
export async function detectPerson(image: Uint8Array): Promise<PersonDetection> {
  const { faces, names } = await peopleIn(image);
  const nameless = names.filter((name) => faces.every((face) => face.name !== name));
  const subjects: DepictedPerson[] = [...faces, ...nameless.map((name) => ({ name, box: null }))];
  if (subjects.length > 0)
    return { hasPerson: true, reason: reasonFor(faces.length, names.length), subjects };
  return {
    hasPerson: null,
    reason: 'the file declares no person, and people are not recognised here: it may show some or none',
    subjects: [],
  };
}

/** The largest face box that the file declares; null when there is none. Throws UNREADABLE_MEDIA. */
export async function largestFace(image: Uint8Array) {
  const { faces } = await peopleIn(image);
  const boxes = faces.flatMap(({ box }) => box ?? []);
  const area = ({ width, height }: { width: number; height: number }) => width * height;
  return boxes.toSorted((one, other) => area(other) - area(one))[0] ?? null;
}

async function peopleIn(image: Uint8Array): Promise<DeclaredPeople> {
  try {
    const { xmp, orientation } = await sharp(image, { limitInputPixels: MAX_PIXELS }).metadata();
    return declaredPeople(xmp?.toString('utf8') ?? '', orientation ?? UPRIGHT);
  } catch (cause) {
    throw new StudioError('UNREADABLE_MEDIA', 'the image cannot be read', { cause });
  }
}

function reasonFor(faces: number, names: number): string {
  const parts = [
    ...(faces === 0 ? [] : [`${faces} face ${faces === 1 ? 'region' : 'regions'} (MWG)`]),
    ...(names === 0 ? [] : [`${names} named ${names === 1 ? 'person' : 'people'} (IPTC)`]),
  ];
  return `the file declares ${parts.join(' and ')}`;
}

/** Who is in an image, as its XMP says. */
interface DeclaredPeople {
  /** Face regions of the Metadata Working Group, which cameras and photo managers write. */
  readonly faces: readonly DepictedPerson[];
  /** Names of IPTC's PersonInImage. */
  readonly names: readonly string[];
}

const MOST_PEOPLE = 50;
const MAX_NAME_LENGTH = 200;

/** Reads who is declared. Boxes are turned along with the image (`orientation` as in EXIF): they are measured in the image as it is stored. */
export function declaredPeople(xmp: string, orientation: number): DeclaredPeople {
  const document = readXml(xmp);
  const faces = elementsNamed(document, 'mwg-rs:RegionList')
    .flatMap((list) => elementsNamed(list, 'rdf:li'))
    .filter((region) => readProperty(region, 'mwg-rs:Type')?.toLowerCase() === 'face')
    .slice(0, MOST_PEOPLE)
    .map((region) => ({
      name: nameIn(readProperty(region, 'mwg-rs:Name')),
      box: turned(readBox(region), orientation),
    }));
  const names = elementsNamed(document, 'Iptc4xmpExt:PersonInImage')
    .flatMap((list) => elementsNamed(list, 'rdf:li'))
    .flatMap(({ text }) => nameIn(text) ?? []);
  return { faces, names: [...new Set(names)].slice(0, MOST_PEOPLE) };
}

function nameIn(text: string | null): string | null {
  const name = (text ?? '')
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, MAX_NAME_LENGTH)
    .toWellFormed();
  return name === '' ? null : name;
}

/** An area is told by its middle and its size; one that is not a part of the image is none. */
function readBox(region: XmlElement): FaceBox | null {
  const [area] = elementsNamed(region, 'mwg-rs:Area');
  if (area === undefined) return null;
  const unit = readProperty(area, 'stArea:unit');
  if (unit !== null && unit !== 'normalized') return null;
  const [x, y, width, height] = (['x', 'y', 'w', 'h'] as const).map((side) =>
    Number.parseFloat(readProperty(area, `stArea:${side}`) ?? ''),
  );
  const [left, right] = toSides(x, width);
  const [top, bottom] = toSides(y, height);
  if (!(right > left) || !(bottom > top)) return null;
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Where a length around a middle starts and ends within 0 to 1; NaN when either is no number. */
function toSides(middle = Number.NaN, length = Number.NaN): readonly [number, number] {
  const within = (value: number) => Math.max(0, Math.min(1, value));
  return [within(middle - length / 2), within(middle + length / 2)];
}

/** Orientations 5 to 8 lay the image on its side; the others leave it or turn it over. */
const FIRST_SIDEWAYS = 5;
const MIRRORED_ACROSS: ReadonlySet<number> = new Set([2, 3, 6, 7]);
const MIRRORED_DOWN: ReadonlySet<number> = new Set([3, 4, 7, 8]);

function turned(box: FaceBox | null, orientation: number): FaceBox | null {
  if (box === null) return null;
  const laid =
    orientation >= FIRST_SIDEWAYS ? { x: box.y, y: box.x, width: box.height, height: box.width } : box;
  return {
    ...laid,
    x: MIRRORED_ACROSS.has(orientation) ? 1 - laid.x - laid.width : laid.x,
    y: MIRRORED_DOWN.has(orientation) ? 1 - laid.y - laid.height : laid.y,
  };
}
