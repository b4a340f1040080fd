-- Findings are there while the text is typed, in the edited file and in others.

local editor = require('editor')

editor.open(editor.VERSIONS, '    |horizon: registry')
editor.type('yyp')
editor.finds(0, { '24:5 duplicate-key' })
editor.type('u')
editor.finds(0, {})

-- A file that is not open.
local lab = editor.buffer('site/lab/charts/keystone.yaml')
editor.finds(lab, { '11:7 missing-parent' })
local found = vim.diagnostic.get(lab)[1]
editor.equal(found.severity, vim.diagnostic.severity.ERROR)
editor.equal(found.source, 'layercake')
editor.has(found.message, 'help: did you mean `keystone-global`?')

-- A label is renamed, and the document that selects it is in another file.
editor.open(editor.CLOUD, 'name: keystone-clou|d')
local north = editor.buffer(editor.NORTH)
local expected = { '13:7 missing-parent', '8:3 invalid-replacement' }
editor.type('As<Esc>')
editor.finds(north, expected)
editor.type('u')
editor.finds(north, {})
editor.type('<C-r>')
editor.finds(north, expected)
-- They are not there twice while the file is open, nor lost when it is closed.
editor.open(editor.NORTH, '|name: keystone-cloud')
editor.type('O# why<Esc>')
editor.finds(north, { '14:7 missing-parent', '8:3 invalid-replacement' })
editor.type('u')
editor.finds(north, expected)
vim.cmd('buffer ' .. editor.CLOUD .. ' | bdelete ' .. north)
editor.finds(north, expected)
editor.type('u')
editor.finds(north, {})
