import type { Json } from '../../../platform/json.ts';
import type { Task as TaskShape, TaskOutcome } from '../domain/task.ts';
import { builder } from './builder.ts';

/** The typed results of work with people in it. */

interface CharacterShape {
  readonly kind: 'CHARACTER';
  readonly characterId: string;
}

const Character = builder.objectRef<CharacterShape>('Character').implement({
  description: 'What createCharacter made.',
  fields: (t) => ({
    characterId: t.exposeID('characterId', { description: 'Names the person in generateCharacterImage.' }),
  }),
});

interface AvatarSourceShape {
  readonly kind: 'AVATAR_SOURCE';
  readonly videoId: string;
}

const AvatarSource = builder.objectRef<AvatarSourceShape>('AvatarSource').implement({
  description: 'What uploadAvatarSource made.',
  fields: (t) => ({
    videoId: t.exposeID('videoId', { description: 'Names the video in createAvatar.' }),
  }),
});

interface AvatarShape {
  readonly kind: 'AVATAR';
  readonly digitalId: string;
}

const Avatar = builder.objectRef<AvatarShape>('Avatar').implement({
  description: 'What createAvatar made.',
  fields: (t) => ({
    digitalId: t.exposeID('digitalId', { description: 'Names the avatar in generateAvatarVideo.' }),
  }),
});

interface PersonDetectionShape {
  readonly kind: 'PERSON_DETECTION';
  readonly hasPerson: boolean | null;
  readonly reason: string | null;
  readonly subjects: readonly Json[];
}

const PersonDetection = builder.objectRef<PersonDetectionShape>('PersonDetection').implement({
  description: 'What detectPerson found.',
  fields: (t) => ({
    hasPerson: t.exposeBoolean('hasPerson', {
      nullable: true,
      description: 'Whether there is a person or a figure in the picture; null when that could not be told.',
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Why, in words; always there with null.',
    }),
    subjects: t.field({
      type: ['JSON'],
      description: 'Who was found, as the provider tells it.',
      resolve: ({ subjects }) => [...subjects],
    }),
  }),
});

/** What tasks about persons come to. */
export type PersonResult = CharacterShape | AvatarSourceShape | AvatarShape | PersonDetectionShape;

/** The typed result of a task with people in it; null for every other kind. */
export function personResultOf(kind: TaskShape['kind'], { facts }: TaskOutcome): PersonResult | null {
  switch (kind) {
    case 'CHARACTER':
      return { kind, characterId: idOf(facts['characterId']) };
    case 'AVATAR_SOURCE':
      return { kind, videoId: idOf(facts['videoId']) };
    case 'AVATAR':
      return { kind, digitalId: idOf(facts['digitalId']) };
    case 'PERSON_DETECTION':
      return { kind, ...detectionOf(facts) };
    default:
      return null;
  }
}

function idOf(fact: Json | undefined): string {
  return typeof fact === 'string' || typeof fact === 'number' ? String(fact) : '';
}

const UNTOLD = 'the provider did not say whether there is somebody';

/** Unknown stays unknown, with a reason. */
function detectionOf({
  hasPerson,
  reason,
  subjects,
}: TaskOutcome['facts']): Omit<PersonDetectionShape, 'kind'> {
  const isKnown = typeof hasPerson === 'boolean';
  const words = typeof reason === 'string' && reason !== '' ? reason : null;
  return {
    hasPerson: isKnown ? hasPerson : null,
    reason: isKnown ? words : (words ?? UNTOLD),
    subjects: Array.isArray(subjects) ? subjects : [],
  };
}

/** The types of those results, by kind. */
export const PERSON_RESULTS = {
  CHARACTER: Character,
  AVATAR_SOURCE: AvatarSource,
  AVATAR: Avatar,
  PERSON_DETECTION: PersonDetection,
} as const;
