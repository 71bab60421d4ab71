import { notFound } from '../../platform/errors.ts';
import { VideoTemplates } from '../documents/media/template.ts';
import { success } from '../replies/envelopes.ts';
import { route } from '../route/define-route.ts';
import { query } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { healthRoute } from './shared/questions.ts';

/** Prompt helper (deprecated). */
export const prompt: Section = {
  service: 'media',
  title: 'Prompt helper (deprecated)',
  routes: [
    route(VideoTemplates)({
      method: 'GET',
      path: '/api/prompt/default',
      deprecated: true,
      params: { task_type: query.text({ optional: true }) },
      // The catalog is ordered by id, and the bundled templates come first.
      variables: ({ task_type }) => ({ taskType: task_type, page: 1, pageSize: 1 }),
      responseSchema: 'PromptDefault',
      reply: ({ videoTemplates: { items } }, { input: { task_type = '' } }) => {
        const [template] = items;
        if (template === undefined) throw notFound('template', task_type);
        const sample = template.prompt ?? template.presetPrompts[0] ?? '';
        return success({ task_type: template.taskType, prompt: sample });
      },
    }),
    healthRoute('/api/prompt/health', { deprecated: true }),
  ],
};
