import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { model } from './model.ts';

/** Volcengine's visual service: each service's key is its model. The video storage (VOD) has no models and is listed as one. */
export const volcengine: readonly ModelLimits[] = [
  model('jimeng_realman_avatar_picture_create_role_omni_v15', 'OmniHuman 1.5: who is in a picture', {
    category: 'avatar',
    kinds: ['PERSON_DETECTION'],
    inputs: ['image'],
  }),
  model('jimeng_realman_avatar_picture_omni_v15', 'OmniHuman 1.5', {
    category: 'avatar',
    kinds: ['HUMAN_VIDEO'],
    inputs: ['image', 'audio', 'prompt', 'resolution'],
    sizes: ['1080p', '720p'],
    maxPrompt: 300,
  }),
  model('jimeng_realman_avatar_picture_omni_v2', 'OmniHuman 1.0', {
    category: 'avatar',
    kinds: ['HUMAN_VIDEO'],
    inputs: ['image', 'audio'],
  }),
  model('vod', 'Volcengine VOD', { category: 'avatar', kinds: ['AVATAR_SOURCE'], inputs: ['source'] }),
  model('realman_avatar_training_task_streaming', 'Cloned avatar: training', {
    category: 'avatar',
    kinds: ['AVATAR'],
    inputs: ['videoId', 'name'],
  }),
  model('realman_avatar_creation_task', 'Cloned avatar: video', {
    category: 'avatar',
    kinds: ['AVATAR_VIDEO'],
    inputs: ['digitalId', 'audio', 'text', 'voiceId'],
    maxPrompt: 5_000,
  }),
];
