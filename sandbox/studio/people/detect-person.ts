import sharp from 'sharp';

import { StudioError } from '../types/media-types.ts';
import type { PersonDetection, DepictedPerson } from '../types/media-types.ts';
import { declaredPeople } from './declared.ts';
import type { DeclaredPeople } from './declared.ts';

/** Most pixels that are decoded. */
const MAX_PIXELS = 50_000_000;
const UPRIGHT = 1;

/** The people that a picture's metadata declares; nothing is recognized. Throws UNREADABLE_MEDIA. */
export async function detectPerson(picture: Uint8Array): Promise<PersonDetection> {
  const { faces, names } = await peopleIn(picture);
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
export async function largestFace(picture: Uint8Array) {
  const { faces } = await peopleIn(picture);
  const boxes = faces.flatMap(({ box }) => box ?? []);
  const area = ({ width, height }: { width: number; height: number }) => width * height;
  return boxes.toSorted((one, other) => area(other) - area(one))[0] ?? null;
}

async function peopleIn(picture: Uint8Array): Promise<DeclaredPeople> {
  try {
    const { xmp, orientation } = await sharp(picture, { limitInputPixels: MAX_PIXELS }).metadata();
    return declaredPeople(xmp?.toString('utf8') ?? '', orientation ?? UPRIGHT);
  } catch (cause) {
    throw new StudioError('UNREADABLE_MEDIA', 'the picture cannot be read', { cause });
  }
}

function reasonFor(faces: number, names: number): string {
  const parts = [
    ...(faces === 0 ? [] : [`${faces} face ${faces === 1 ? 'region' : 'regions'} (MWG)`]),
    ...(names === 0 ? [] : [`${names} named ${names === 1 ? 'person' : 'people'} (IPTC)`]),
  ];
  return `the file declares ${parts.join(' and ')}`;
}
