" Fill the quickfix list from kebab. Source this file from your vimrc or init.vim.

" :Kebab how do I restore a backup
command! -nargs=+ Kebab call s:Run(['search', '-l', '--', <q-args>], '%f')
" :KebabGrep TODO|FIXME
command! -nargs=+ KebabGrep call s:Run(['grep', '--', <q-args>], '%f:%l:%m')

function! s:Run(arguments, format) abort
  let l:words = map(copy(a:arguments), 'shellescape(v:val)')
  let l:lines = systemlist('kebab ' . join(l:words) . ' 2>/dev/null')
  call setqflist([], ' ', {'title': 'kebab', 'lines': l:lines, 'efm': a:format})
  if empty(getqflist())
    echo 'kebab: nothing found'
  else
    copen
    cfirst
  endif
endfunction
