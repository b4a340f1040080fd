-- Fixes, comments that ignore a finding, and values that are set for fewer sites.

local editor = require('editor')

-- Asks for the actions at the cursor until there are some: those of findings are known once the file is
-- judged. Applies the one whose title has a text, if there is one.
local function choose(part)
  local is_asked, offered
  vim.notify = function() is_asked = false end
  vim.ui.select = function(items, _, on_choice)
    offered = vim.tbl_map(function(item) return item.action end, items)
    for _, item in ipairs(items) do
      if part and item.action.title:find(part, 1, true) then return on_choice(item) end
    end
  end
  return editor.wait('actions', function()
    if not is_asked then
      is_asked = true
      vim.lsp.buf.code_action()
    end
    return offered
  end)
end

-- Whether actions are preferred, by the beginnings of their titles.
local function preferred(actions)
  local found = {}
  for _, action in ipairs(actions) do
    found[action.title:match('^%w+')] = action.isPreferred or false
  end
  return found
end

-- A safe fix is applied without a question.
editor.open(editor.VERSIONS, '    |keystone: registry')
local text = editor.text(0)
editor.type('O# layercake: ignore[missing-parent]<Esc>')
editor.finds(0, { '22:5 unused-ignore' })
editor.go('# layercake: igno|re')
vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.isPreferred end })
editor.becomes(text, function() return editor.text(0) end)
editor.finds(0, {})

-- An unsafe one is not preferred.
editor.open('global/charts/horizon.yaml', '.values.endpoints.horizon.|port')
editor.finds(0, { '31:15 leaking-substitution' })
editor.equal(preferred(choose()), { Add = false, Ignore = false })
choose('deepcopy')
editor.finds(0, {})
editor.has(editor.text(0), 'deepcopy: true')
editor.type('u')
editor.finds(0, { '31:15 leaking-substitution' })

-- A comment.
editor.go('.values.endpoints.horizon.|port')
choose('Ignore')
editor.finds(0, {})
editor.has(editor.text(0), 'layercake: ignore[leaking-substitution] TODO: why')

-- A value is set for fewer sites.
editor.open(editor.NORTH, '        |api: 5')
editor.type('Cother: 1<Esc>')
editor.open(editor.CLOUD, 'api: |3')
choose('for north only: set it in keystone (site)')
editor.becomes('        other: 1\n        api: 3', function()
  return editor.text(editor.buffer(editor.NORTH)):match('[^\n]*\n[^\n]*$')
end)
