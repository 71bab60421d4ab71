import { Icon } from '../../parts/icons.tsx';
import { t } from '../../text/text.ts';
import type { Member } from './members.ts';

/** What somebody is called: their name, else what they are. */
export function nameOfMember({ name, kind }: Pick<Member, 'name' | 'kind'>): string {
  return name === '' ? t(`kind.${kind}`) : name;
}

/** What somebody looks like from afar: their picture, the first one of their video, else a sign. */
export function MemberPicture({ member }: { readonly member: Member }) {
  const { media, kind } = member;
  const src = media?.thumbnail ?? null;
  const isSound = media?.contentType.startsWith('audio/') === true;
  if (src !== null && !isSound)
    return <img className="h-full w-full object-cover" src={src} alt="" loading="lazy" decoding="async" />;
  return <Icon name={kind === 'VOICE_CLONE' ? 'speech' : 'avatar'} size={20} />;
}
