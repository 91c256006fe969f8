"""Surnames and first names of Spanish in short."""

from typing import Final

from polyvox.text.normalize.romance.short_forms.lists import short_forms

SURNAMES: Final = short_forms(
    """
    Álvz.: Álvarez; Alvz.: Álvarez; Alvrez.: Álvarez; Álv.: Álvarez; Bmdez.: Bermúdez; Bdez.: Bermúdez; Dguez.:
    Domínguez; Domgz.: Domínguez; Dmgz.: Domínguez; Dz.: Díaz; Fdez.: Fernández; Fdz.: Fernández; Fernz.: Fernández;
    Fern.: Fernández; Gcía.: García; Gª.: García; Gmez.: Gómez; Gmz.: Gómez; Gómz.: Gómez; Gmnez.: Giménez; Gimz.:
    Giménez; Glez.: González; Gzlez.: González; Gonz.: González; Gonzlz.: González; Glz.: González; Gtez.:
    Gutiérrez; Gtrez.: Gutiérrez; Gtrrz.: Gutiérrez; Guttz.: Gutiérrez; Hdez.: Hernández; Hdz.: Hernández; Hrdez.:
    Hernández; Hernz.: Hernández; Jmnez.: Jiménez; Jmez.: Jiménez; Jimz.: Jiménez; Lpez.: López; Lpz.: López; Mdez.:
    Méndez; Mndez.: Méndez; Mñoz.: Muñoz; Mñz.: Muñoz; Mtnez.: Martínez; Mtez.: Martínez; Mtz.: Martínez; Mnez.:
    Martínez; Martz.: Martínez; Mrtnez.: Martínez; Nñez.: Núñez; Pz.: Pérez; Prez.: Pérez; Rdguez.: Rodríguez;
    Rdgz.: Rodríguez; Rguez.: Rodríguez; Rgz.: Rodríguez; Rodgz.: Rodríguez; Rodr.: Rodríguez; Rodríg.: Rodríguez;
    Rmz.: Ramírez; Rmrez.: Ramírez; Ramz.: Ramírez; Rz.: Ruiz; Schez.: Sánchez; Schz.: Sánchez; Sánch.: Sánchez;
    Snchez.: Sánchez; Suárz.: Suárez; Srez.: Suárez; Vázqz.: Vázquez; Vzquez.: Vázquez; Vqz.: Vázquez; Vlez.: Vélez;
    Ant.º: Antonio; Antº: Antonio; Ant.: Antonio; Bmé.: Bartolomé; Dgo.: Domingo; Fca.: Francisca; Fco.: Francisco;
    Frco.: Francisco; Fdo. Jº: Fernando José; Gpe.: Guadalupe; Gmo.: Guillermo; Jph.: José; Jsé.: José; Ign.:
    Ignacio; Mgl.: Miguel; Ml.: Manuel; Manl.: Manuel; Migl.: Miguel; Rbto.: Roberto; Stgo.: Santiago; Tmás.: Tomás;
    Vte.: Vicente
    """
)
