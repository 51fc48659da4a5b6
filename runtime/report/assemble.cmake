# Puts the page of the report together, but for its data: cmake -DPAGE=DIR -DD3=FILE -DLICENCES=FILES -DLICENCE=FILE
# -DOUTPUT=FILE -P assemble.cmake. LICENCE: where all of LICENCES are written, for the installation.
file(READ ${PAGE}/template.html template)
file(READ ${PAGE}/style.css style)
file(READ ${D3} library)
if("${library}" MATCHES "</script|<!--")
  message(FATAL_ERROR "${D3}: expected a script that can stand in a page, got one with </script or <!--.")
endif()

set(licence "")
foreach(file IN LISTS LICENCES)
  if(EXISTS ${file})
    file(READ ${file} text)
    string(APPEND licence "${text}\n")
  endif()
endforeach()
if(licence STREQUAL "") # of packages without documentation
  string(REGEX MATCH "^//[^\n]*" licence "${library}")
  string(APPEND licence "\nBSD-3-Clause, see https://github.com/d3/d3/blob/v5.16.0/LICENSE\n")
endif()
file(WRITE ${LICENCE} "${licence}")
string(REPLACE "&" "&amp;" licence "${licence}")
string(REPLACE "<" "&lt;" licence "${licence}")

file(GLOB names ${PAGE}/*.js)
list(SORT names)
set(scripts "")
foreach(name IN LISTS names)
  file(READ ${name} script)
  string(APPEND scripts "${script}\n")
endforeach()

# What has a place in it comes first: nothing is looked for in the texts of others.
foreach(part IN ITEMS SCRIPTS STYLE LICENCE LIBRARY)
  string(TOLOWER ${part} value)
  string(REPLACE "@${part}@" "${${value}}" template "${template}")
endforeach()
file(WRITE ${OUTPUT} "${template}")
